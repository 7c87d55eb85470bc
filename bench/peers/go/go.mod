module coact-bench-peer

go 1.19
