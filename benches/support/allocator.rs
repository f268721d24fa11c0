//! The allocator of the binary, so that benchmarks measure what `vigie serve` does.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
