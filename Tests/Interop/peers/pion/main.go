// pion as answerer: serves the two routes of the backend contract and sends every Opus packet it hears straight back, or,
// with -packets, speaks from connected on what that file holds: Opus packets of 20 ms, each after its length in two bytes.
// It prints the events that contract.py describes. Built in GOPATH mode from Debian's Go sources; see ../../run.
package main

import (
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/pion/ice/v2"
	"github.com/pion/interceptor"
	"github.com/pion/logging"
	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v3"
	"github.com/pion/webrtc/v3/pkg/media"
)

var opus = webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2}

// monotonic is seconds of CLOCK_MONOTONIC, which Go's own clock keeps to itself.
func monotonic() float64 {
	const clockMonotonic = 1
	var now syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&now)), 0)
	return float64(now.Sec) + float64(now.Nsec)/1e9
}

var printing sync.Mutex

func event(name string, more map[string]any) {
	line := map[string]any{"at": monotonic(), "event": name}
	for key, value := range more {
		line[key] = value
	}
	printing.Lock()
	defer printing.Unlock()
	json.NewEncoder(os.Stdout).Encode(line)
}

// call is one voice: a peer connection that echoes until the other side ends it.
type call struct {
	id         string
	began      time.Time
	connection *webrtc.PeerConnection
	ended      sync.Once
}

// end says once how the other side's close was noticed, and lets the connection go.
func (c *call) end(by string) {
	c.ended.Do(func() {
		event("closed", map[string]any{"voice": c.id, "by": by})
		go c.connection.Close()
	})
}

// speech is what -packets names; empty: echo.
var speech [][]byte

func readSpeech(path string) error {
	content, err := os.ReadFile(path)
	for err == nil && len(content) >= 2 {
		size := int(binary.BigEndian.Uint16(content))
		if size > len(content)-2 {
			return fmt.Errorf("%s ends within a packet", path)
		}
		speech = append(speech, content[2:2+size])
		content = content[2+size:]
	}
	return err
}

// speak sends the packets at their pace, over and over, until the track is closed.
func speak(track *webrtc.TrackLocalStaticSample, isOver <-chan struct{}) {
	const packet = 20 * time.Millisecond
	ticker := time.NewTicker(packet)
	defer ticker.Stop()
	for index := 0; ; index++ {
		track.WriteSample(media.Sample{Data: speech[index%len(speech)], Duration: packet})
		select {
		case <-ticker.C:
		case <-isOver:
			return
		}
	}
}

func (c *call) answer(offer string) (string, error) {
	echo, err := webrtc.NewTrackLocalStaticRTP(opus, "audio", "echo")
	if err != nil {
		return "", err
	}
	spoken, err := webrtc.NewTrackLocalStaticSample(opus, "audio", "speech")
	if err != nil {
		return "", err
	}
	var track webrtc.TrackLocal = echo
	if len(speech) > 0 {
		track = spoken
	}
	if _, err = c.connection.AddTrack(track); err != nil {
		return "", err
	}
	isOver := make(chan struct{})
	c.connection.OnConnectionStateChange(func(state webrtc.PeerConnectionState) {
		event("state", map[string]any{"voice": c.id, "state": state.String()})
		if state == webrtc.PeerConnectionStateConnected && len(speech) > 0 {
			go speak(spoken, isOver)
		}
		if state == webrtc.PeerConnectionStateClosed && len(speech) > 0 {
			close(isOver)
		}
		if state == webrtc.PeerConnectionStateDisconnected || state == webrtc.PeerConnectionStateFailed {
			c.end("connection " + state.String())
		}
	})
	c.connection.OnDataChannel(c.converse)
	c.connection.OnTrack(func(track *webrtc.TrackRemote, receiver *webrtc.RTPReceiver) {
		go c.watchReports(receiver)
		for {
			packet, _, err := track.ReadRTP()
			if err != nil {
				return
			}
			if len(speech) == 0 {
				echo.WriteRTP(packet)
			}
		}
	})
	remote := webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offer}
	if err = c.connection.SetRemoteDescription(remote); err != nil {
		return "", err
	}
	answer, err := c.connection.CreateAnswer(nil)
	if err != nil {
		return "", err
	}
	gathered := webrtc.GatheringCompletePromise(c.connection)
	if err = c.connection.SetLocalDescription(answer); err != nil {
		return "", err
	}
	<-gathered
	return c.connection.LocalDescription().SDP, nil
}

// converse is contract.py's Dialogue: on the appliance's event channel it says a long line of speech, and what it is told comes
// back within another; on any other it sends back what it gets.
func (c *call) converse(channel *webrtc.DataChannel) {
	line := func(item, transcript string) string {
		text, _ := json.Marshal(map[string]string{
			"type": "response.output_audio_transcript.done", "item_id": item, "transcript": transcript,
		})
		return string(text)
	}
	isProvider := channel.Label() == "oai-events"
	channel.OnOpen(func() {
		event("channel", map[string]any{"voice": c.id, "label": channel.Label()})
		if isProvider {
			size := 65536 - len(line("long", ""))
			channel.SendText(line("long", strings.Repeat("0123456789abcdef", 4096)[:size]))
		}
	})
	count := 0
	channel.OnMessage(func(message webrtc.DataChannelMessage) {
		text := string(message.Data)
		switch {
		case isProvider:
			event("told", map[string]any{"voice": c.id, "text": text[:min(len(text), 200)]})
			count++
			channel.SendText(line(fmt.Sprintf("told-%d", count), text))
		case message.IsString:
			channel.SendText(text)
		default:
			channel.Send(message.Data)
		}
	})
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

// byTCP are connections that listen at one TCP port for all calls (RFC 6544), beside UDP.
func byTCP() (*webrtc.API, error) {
	listener, err := net.Listen("tcp", ":0")
	if err != nil {
		return nil, err
	}
	media := &webrtc.MediaEngine{}
	if err = media.RegisterDefaultCodecs(); err != nil {
		return nil, err
	}
	registry := &interceptor.Registry{}
	if err = webrtc.RegisterDefaultInterceptors(media, registry); err != nil {
		return nil, err
	}
	setting := webrtc.SettingEngine{}
	setting.SetNetworkTypes([]webrtc.NetworkType{
		webrtc.NetworkTypeUDP4, webrtc.NetworkTypeUDP6, webrtc.NetworkTypeTCP4, webrtc.NetworkTypeTCP6,
	})
	setting.SetICETCPMux(ice.NewTCPMuxDefault(ice.TCPMuxParams{
		Listener: listener, Logger: logging.NewDefaultLoggerFactory().NewLogger("tcp"), ReadBufferSize: 32, WriteBufferSize: 4 << 20,
	}))
	return webrtc.NewAPI(
		webrtc.WithMediaEngine(media), webrtc.WithInterceptorRegistry(registry), webrtc.WithSettingEngine(setting)), nil
}

// watchReports looks for the BYE with which a peer that closes takes its stream's leave.
func (c *call) watchReports(receiver *webrtc.RTPReceiver) {
	for {
		packets, _, err := receiver.ReadRTCP()
		if err != nil {
			return
		}
		for _, packet := range packets {
			if _, isBye := packet.(*rtcp.Goodbye); isBye {
				c.end("RTCP BYE")
			}
		}
	}
}

func main() {
	port := flag.Int("port", 8080, "where the two routes are served")
	address := flag.String("address", "127.0.0.1", "the address that they are served on; :: is any")
	servers := flag.String("ice-servers", "null", "what stands in each answer under iceServers, as JSON")
	takesTCP := flag.Bool("tcp", false, "take connections too")
	packets := flag.String("packets", "", "a file of Opus packets to speak; without it what is heard is sent back")
	flag.Parse()
	if *packets != "" {
		if err := readSpeech(*packets); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}

	connect := webrtc.NewPeerConnection
	if *takesTCP {
		api, err := byTCP()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		connect = api.NewPeerConnection
	}

	var lock sync.Mutex
	calls := map[string]*call{}

	reply := func(w http.ResponseWriter, status int, content any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(content)
	}
	refuse := func(w http.ResponseWriter, status int, code string, why error) {
		event("failed", map[string]any{"why": why.Error()})
		reply(w, status, map[string]any{"error": map[string]string{"code": code, "message": why.Error()}})
	}

	begin := func(w http.ResponseWriter, r *http.Request) {
		var body struct{ SDP string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			refuse(w, http.StatusBadRequest, "bad_body", err)
			return
		}
		connection, err := connect(webrtc.Configuration{})
		if err != nil {
			refuse(w, http.StatusInternalServerError, "peer", err)
			return
		}
		lock.Lock()
		c := &call{id: strconv.Itoa(len(calls) + 1), began: time.Now(), connection: connection}
		calls[c.id] = c
		lock.Unlock()
		event("voice", map[string]any{"voice": c.id})
		answer, err := c.answer(body.SDP)
		if err != nil {
			refuse(w, http.StatusInternalServerError, "peer", err)
			return
		}
		event("answered", map[string]any{"voice": c.id})
		reply(w, http.StatusOK, map[string]any{"id": c.id, "sdp": answer, "iceServers": json.RawMessage(*servers)})
	}
	hangUp := func(w http.ResponseWriter, voice string) {
		lock.Lock()
		c, known := calls[voice]
		lock.Unlock()
		if !known {
			refuse(w, http.StatusNotFound, "not_found", fmt.Errorf("no voice %q", voice))
			return
		}
		event("hung_up", map[string]any{"voice": voice})
		reply(w, http.StatusOK, map[string]float64{"seconds": time.Since(c.began).Seconds()})
	}

	http.HandleFunc("/voice/", func(w http.ResponseWriter, r *http.Request) {
		parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
		switch {
		case r.Method == http.MethodPost && len(parts) == 2:
			begin(w, r)
		case r.Method == http.MethodPost && len(parts) == 4 && parts[3] == "close":
			hangUp(w, parts[2])
		default:
			refuse(w, http.StatusNotFound, "not_found", fmt.Errorf("%s %s", r.Method, r.URL.Path))
		}
	})
	listener, err := net.Listen("tcp", net.JoinHostPort(*address, strconv.Itoa(*port)))
	if err == nil {
		event("listening", nil)
		err = http.Serve(listener, nil)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
