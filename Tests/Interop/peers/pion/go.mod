module pionpeer

go 1.19
