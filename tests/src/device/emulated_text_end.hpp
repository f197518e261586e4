// What follows is the host's text again: the macros of emulated_block.hpp go.
#undef __shared__
#undef __device__
#undef __CUDA_ARCH__
