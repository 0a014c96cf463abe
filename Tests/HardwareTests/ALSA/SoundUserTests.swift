import Testing

@testable import Hardware

@Suite struct SoundUserTests {
    @Test(
        arguments: [
            ("closed\n", nil), ("", nil), ("state: RUNNING\nowner_pid   : 812\ntrigger_time: 1.2\n", 812),
            ("owner_pid   : x\n", nil), ("owner_pid   : 0\n", nil), ("owner_pid", nil),
        ] as [(String, Int?)])
    func theOwnerStandsInTheStatusFile(status: String, owner: Int?) {
        #expect(SoundUser.owner(in: status) == owner)
    }

    @Test func aBusyDevicesUsersAreNamedByProgram() throws {
        let folder = try TestFolder()
        let pcm = "asound/card2/pcm0c"
        try folder.write("\(pcm)/sub0/status", "state: RUNNING\nowner_pid   : 71\n")
        try folder.write("\(pcm)/sub1/status", "closed\n")
        try folder.write("\(pcm)/sub2/status", "state: RUNNING\nowner_pid   : 90\n")
        // The thread 71 belongs to the program 70; of 90 nothing can be seen.
        try folder.write("71/status", "Name:\tworker\nTgid:\t70\n")
        try folder.write("70/comm", "arecord\n")
        let place = SoundPlace(cardNumber: 2, cardID: "Phone", device: 0, subdevice: nil, direction: .capture)
        #expect(SoundUser.names(of: place, proc: folder.path) == ["arecord (process 70)", "process 90"])
    }
}
