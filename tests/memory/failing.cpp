#include "failing.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include <petscmat.h>

#if PETSC_VERSION_LT(3, 19, 0) && !defined(PETSC_SUCCESS)
#define PETSC_SUCCESS 0
#endif

// glibc's own, below those that this program has in their place.
extern "C" {
void* __libc_malloc(std::size_t);                 // NOLINT(bugprone-reserved-identifier)
void* __libc_calloc(std::size_t, std::size_t);    // NOLINT(bugprone-reserved-identifier)
void* __libc_memalign(std::size_t, std::size_t);  // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void*, std::size_t);         // NOLINT(bugprone-reserved-identifier)
void __libc_free(void*);                          // NOLINT(bugprone-reserved-identifier)
}

namespace failing {

namespace {

constexpr int most_frames = 96;

/// Return addresses, the outermost first.
struct Stack {
  int depth = 0;
  void* frames[most_frames];
};

/// Without an allocation of its own, which would come by here.
void take(Stack* stack) {
  stack->depth = backtrace(stack->frames, most_frames);
  std::reverse(stack->frames, stack->frames + stack->depth);
}

struct Range {
  std::uintptr_t begin = 0, end = 0;
  bool has(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at >= begin && at < end;
  }
};
Range plugin, program, petsc;

int find_libraries(dl_phdr_info* info, std::size_t, void*) {
  const bool is_program = !info->dlpi_name[0], is_plugin = std::strstr(info->dlpi_name, "libpetsccompound");
  const bool is_petsc = !is_plugin && std::strstr(info->dlpi_name, "libpetsc");
  static bool program_is_known = false;
  if (!is_plugin && !is_petsc && (!is_program || std::exchange(program_is_known, true))) return 0;
  Range& range = is_plugin ? plugin : is_petsc ? petsc : program;
  for (int k = 0; k < info->dlpi_phnum; ++k) {
    const auto& segment = info->dlpi_phdr[k];
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    range.begin = range.begin ? std::min(range.begin, begin) : begin;
    range.end = std::max(range.end, begin + segment.p_memsz);
  }
  return 0;
}

/// `table`: malloc() by PETSc's tables (3.19 and later), which hold what is lost with them.
enum class From { nowhere, operator_new, memalign, petsc_malloc, table };

/// A block that is watched.
struct Block {
  void* memory = nullptr;
  std::size_t bytes = 0;
  From from = From::nowhere;
  const char* function = nullptr;  ///< of PetscMalloc()
  int stack = -1;
  bool of_petsc = false;  ///< PETSc lost it, or what it hangs on
  bool is_kept = false;
  int attempt = 0;  ///< of keep()
};

/// Open addressing: nothing here may allocate.
constexpr std::size_t room = 1 << 18;
constexpr int most_stacks = 1 << 15;
Block blocks[room];
std::size_t block_count = 0;
Stack* stacks = nullptr;
int stack_count = 0;
std::atomic_flag busy = ATOMIC_FLAG_INIT;

struct Locked {
  Locked() {
    while (busy.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~Locked() { busy.clear(std::memory_order_release); }
};

int attempt = 0;
bool watching = false, with_stacks = false, counting = false, counts_all = true;
long count = 0, fails_at = 0;
Mode fails = Mode::none;
Failure last;
Stack at_failure;
const void* left[16];
int left_count = 0;
Paths* noted = nullptr;
long most_noted = 0;

std::size_t place_of(const void* memory) {
  return (reinterpret_cast<std::uintptr_t>(memory) >> 4) * 0x9e3779b97f4a7c15u >> 46;
}

void remember(void* memory, std::size_t bytes, From from, const char* function) {
  if (!watching || !memory) return;
  Stack own;
  if (with_stacks) take(&own);
  const Locked locked;
  if (block_count > room / 2) std::abort();
  std::size_t k = place_of(memory);
  while (blocks[k].memory) k = (k + 1) % room;
  blocks[k] = {memory, bytes, from, function, -1, false, false, attempt};
  ++block_count;
  if (!with_stacks || stack_count == most_stacks) return;
  blocks[k].stack = stack_count;
  stacks[stack_count++] = own;
}

void forget(const void* memory) {
  if (!memory || block_count == 0) return;
  const Locked locked;
  std::size_t k = place_of(memory);
  while (blocks[k].memory && blocks[k].memory != memory) k = (k + 1) % room;
  if (!blocks[k].memory) return;
  --block_count;
  std::size_t hole = k;
  for (k = (k + 1) % room; blocks[k].memory; k = (k + 1) % room) {
    const std::size_t home = place_of(blocks[k].memory);
    if ((k - home) % room < (k - hole) % room) continue;
    blocks[hole] = blocks[k];
    hole = k;
  }
  blocks[hole] = {};
}

/// Hash of the calls from the plugin on: a loop around is the same path.
Paths path_here() {
  Stack stack;
  take(&stack);
  Paths hash = 14695981039346656037u;
  for (int k = 0; k < stack.depth; ++k) hash = (hash ^ reinterpret_cast<Paths>(stack.frames[k])) * 1099511628211u;
  return hash;
}

/// Whether this allocation is to fail.
bool must_fail(const char* what, bool of_ours) {
  if (!counting || (!of_ours && !counts_all)) return false;
  {
    const Locked locked;
    ++count;
  }
  if (noted && count <= most_noted) {
    counting = false;
    noted[count - 1] = path_here();
    counting = true;
  }
  const bool fail = fails != Mode::none && (count == fails_at || (fails == Mode::from_then_on && count > fails_at));
  if (fail && count == fails_at) {
    take(&at_failure);
    last.hit = true;
    last.of_ours = of_ours;
    counting = false;
    last.where = what;
    counting = true;
  }
  return fail;
}

/// `by`: the caller of operator new. The test's own memory never fails; nor does what is asked for without an
/// exception, by std::stable_sort() alone, which sorts without it.
void* allocate(std::size_t bytes, std::size_t alignment, const void* by) {
  if (by && !program.has(by) && must_fail("operator new", true)) return nullptr;
  void* const memory = alignment ? __libc_memalign(alignment, std::max<std::size_t>(bytes, 1))
                                 : __libc_malloc(std::max<std::size_t>(bytes, 1));
  if (!program.has(by)) remember(memory, bytes, From::operator_new, nullptr);
  return memory;
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment, const void* by) {
  void* const memory = allocate(bytes, alignment, by);
  if (!memory) throw std::bad_alloc();
  return memory;
}

void release(void* memory) {
  forget(memory);
  __libc_free(memory);
}

void* of_table(void* memory, std::size_t bytes, const void* by) {
  if (watching && petsc.has(by)) remember(memory, bytes, From::table, nullptr);
  return memory;
}

// PetscMalloc().

bool is_file_of_ours(const char* file) {
  return file && (std::strstr(file, "/plugin/") || !std::strncmp(file, "plugin/", 7));
}

PetscErrorCode petsc_malloc(std::size_t bytes, PetscBool clear, int line, const char* function, const char* file,
                            void** memory) {
  *memory = nullptr;
  if (bytes == 0) return PETSC_SUCCESS;
  if (must_fail(function ? function : "PetscMalloc", is_file_of_ours(file)))
    return PetscError(PETSC_COMM_SELF, line, function, file, PETSC_ERR_MEM, PETSC_ERROR_INITIAL,
                      "no memory for a test");
  *memory = __libc_memalign(std::max<std::size_t>(PETSC_MEMALIGN, 16), bytes);
  if (!*memory) return PETSC_ERR_MEM;
  if (clear) std::memset(*memory, 0, bytes);
  remember(*memory, bytes, From::petsc_malloc, function);
  return PETSC_SUCCESS;
}

PetscErrorCode petsc_free(void* memory, int, const char*, const char*) {
  release(memory);
  return PETSC_SUCCESS;
}

PetscErrorCode petsc_realloc(std::size_t bytes, int line, const char* function, const char* file, void** memory) {
  if (bytes == 0) {
    release(*memory);
    *memory = nullptr;
    return PETSC_SUCCESS;
  }
  if (must_fail(function ? function : "PetscRealloc", is_file_of_ours(file)))
    return PetscError(PETSC_COMM_SELF, line, function, file, PETSC_ERR_MEM, PETSC_ERROR_INITIAL,
                      "no memory for a test");
  forget(*memory);
  void* const larger = __libc_realloc(*memory, bytes);
  if (!larger) return PETSC_ERR_MEM;
  *memory = larger;
  remember(larger, bytes, From::petsc_malloc, function);
  return PETSC_SUCCESS;
}

std::string name_of(const void* address) {
  Dl_info info;
  char text[200];
  if (dladdr(address, &info) && info.dli_fname) {
    const char* const slash = std::strrchr(info.dli_fname, '/');
    std::snprintf(text, sizeof(text), "%s+0x%zx %s", slash ? slash + 1 : info.dli_fname,
                  reinterpret_cast<std::size_t>(address) - reinterpret_cast<std::size_t>(info.dli_fbase),
                  info.dli_sname ? info.dli_sname : "");
    return text;
  }
  return "?";
}

std::string names_of(const Stack& stack) {
  std::string names;
  for (int k = stack.depth - 1; k >= 0; --k)
    if (!program.has(stack.frames[k])) names += "\n        " + name_of(stack.frames[k]);
  return names;
}

/// The function that had the block when memory failed: the last of those that had called for it and were running yet.
const void* holder(const Stack& stack) {
  int same = 0;
  while (same < stack.depth && same < at_failure.depth && stack.frames[same] == at_failure.frames[same]) ++same;
  return same < stack.depth ? stack.frames[same] : nullptr;
}

Block* block_at(const void* memory) {
  std::size_t k = place_of(memory);
  while (blocks[k].memory && blocks[k].memory != memory) k = (k + 1) % room;
  return blocks[k].memory ? &blocks[k] : nullptr;
}

/// What a block of PETSc's points to is lost with it.
void mark(Block& block) {
  block.of_petsc = true;
  const auto* const words = static_cast<void* const*>(block.memory);
  for (std::size_t k = 0; k < block.bytes / sizeof(void*); ++k)
    if (Block* const next = words[k] ? block_at(words[k]) : nullptr)
      if (!next->of_petsc) mark(*next);
}

/// PETSc's own destruction of a vector wants memory, so that one may be lost where there is none at all.
void mark_those_of_petsc() {
  for (const void* object : left)
    if (Block* const block = object ? block_at(object) : nullptr) mark(*block);
  for (Block& block : blocks) {
    if (fails == Mode::from_then_on && block.from == From::petsc_malloc) mark(block);
    if (!block.memory || block.of_petsc || block.stack < 0) continue;
    const void* const by = holder(stacks[block.stack]);
    if (by && !plugin.has(by) && !program.has(by)) mark(block);
  }
}

}  // namespace

void take_petsc_malloc() {
  void* first[4];
  (void)backtrace(first, 4);  // which loads a library, and allocates
  dl_iterate_phdr(find_libraries, nullptr);
  if (PetscMallocSet(petsc_malloc, petsc_free, petsc_realloc)) std::abort();
}

void start(long site, Mode mode, bool all) {
  counts_all = all;
  if (!plugin.end) dl_iterate_phdr(find_libraries, nullptr);
  last = {};
  count = 0;
  fails_at = site;
  fails = mode;
  counting = true;
}

long stop() {
  counting = false;
  noted = nullptr;
  return count;
}

Failure failure() { return last; }

std::string calls_here() {
  Stack stack;
  take(&stack);
  return names_of(stack);
}

std::string calls_of_failure() { return names_of(at_failure); }

void watch(bool stacks_too) {
  with_stacks = stacks_too;
  if (stacks_too && !stacks)
    stacks = static_cast<Stack*>(mmap(nullptr, most_stacks * sizeof(Stack), PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  watching = true;
}

void leave(const void* object) {
  if (object && left_count < 16) left[left_count++] = object;
}

PetscErrorCode keep(const std::function<PetscErrorCode()>& act) {
  ++attempt;
  const PetscErrorCode code = act();
  if (!code)
    for (Block& block : blocks) block.is_kept |= block.attempt == attempt;
  ++attempt;
  return code;
}

long leaks(std::string* report) {
  watching = false;
  mark_those_of_petsc();
  long found = 0;
  for (const Block& block : blocks) {
    if (!block.memory || block.of_petsc || block.is_kept || block.from == From::table) continue;
    ++found;
    if (found > 1 || !report) continue;
    *report = std::to_string(block.bytes) + " bytes by " + (block.function ? block.function : "operator new");
    if (block.stack < 0) continue;
    const Stack& stack = stacks[block.stack];
    if (const void* const by = holder(stack)) *report += ", held by " + name_of(by);
    *report += ", allocated at" + names_of(stack);
  }
  return found;
}

void note_paths(Paths* paths, long most) {
  noted = paths;
  most_noted = most;
}

}  // namespace failing

// In place of the standard library's and of glibc's, for the plugin, too.
void* operator new(std::size_t bytes) { return failing::allocate_or_throw(bytes, 0, __builtin_return_address(0)); }
void* operator new[](std::size_t bytes) { return failing::allocate_or_throw(bytes, 0, __builtin_return_address(0)); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return failing::allocate(bytes, 0, nullptr); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return failing::allocate(bytes, 0, nullptr); }
void* operator new(std::size_t bytes, std::align_val_t to) {
  return failing::allocate_or_throw(bytes, static_cast<std::size_t>(to), __builtin_return_address(0));
}
void* operator new[](std::size_t bytes, std::align_val_t to) {
  return failing::allocate_or_throw(bytes, static_cast<std::size_t>(to), __builtin_return_address(0));
}
void operator delete(void* memory) noexcept { failing::release(memory); }
void operator delete[](void* memory) noexcept { failing::release(memory); }
void operator delete(void* memory, std::size_t) noexcept { failing::release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { failing::release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { failing::release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { failing::release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { failing::release(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { failing::release(memory); }

extern "C" {
[[gnu::visibility("default")]] int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  using namespace failing;
  const bool of_ours = plugin.has(__builtin_return_address(0));
  if (of_ours && must_fail("posix_memalign()", true)) return ENOMEM;
  *memory = __libc_memalign(alignment, bytes);
  if (*memory && of_ours) remember(*memory, bytes, From::memalign, "posix_memalign");
  return *memory ? 0 : ENOMEM;
}
[[gnu::visibility("default")]] void* malloc(std::size_t bytes) {
  return failing::of_table(__libc_malloc(bytes), bytes, __builtin_return_address(0));
}
[[gnu::visibility("default")]] void* calloc(std::size_t count, std::size_t bytes) {
  return failing::of_table(__libc_calloc(count, bytes), count * bytes, __builtin_return_address(0));
}
[[gnu::visibility("default")]] void* realloc(void* memory, std::size_t bytes) {
  failing::forget(memory);
  return failing::of_table(__libc_realloc(memory, bytes), bytes, __builtin_return_address(0));
}
[[gnu::visibility("default")]] void free(void* memory) { failing::release(memory); }

/// PETSc's own destruction wants memory: what it could not destroy is lost.
[[gnu::visibility("default")]] PetscErrorCode MatDestroy(Mat* A) {
  static const auto of_petsc = reinterpret_cast<PetscErrorCode (*)(Mat*)>(dlsym(RTLD_NEXT, "MatDestroy"));
  const Mat destroyed = *A;
  const PetscErrorCode code = of_petsc(A);
  if (code) failing::leave(destroyed);
  return code;
}
}
