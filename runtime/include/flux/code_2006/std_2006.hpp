/// \file
/// The namespace `std` as it was in 2006, for the headers of that time that generated code takes in. Such a header says
/// `using namespace std` and has names of its own, `byte`, `array` or `function`, that std did not have then. Generated
/// code is of today, as the runtime is, and there they would be ambiguous.
///
/// So where a header cannot be read otherwise, the generated Makefile defines `FLUX_STD_2006`: between this header and
/// the `#undef` that generated code has after it, `std` is a namespace that has the names of ISO/IEC 14882:2003 and no
/// others; each stands for what it does in the real one. The library's headers of that time are all read before.
/// Without `FLUX_MORE_HEADERS` the names are those that came along anyway: who included no `list` had the word himself.
/// `FLUX_USING_STD_2006` says `using namespace std` too, for types that a program names without it.
#pragma once

#ifdef FLUX_STD_2006

#include "flux/code_2006/interface_2006.hpp"

#include <algorithm>
#include <bitset>
#include <complex>
#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <deque>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iterator>
#include <list>
#include <locale>
#include <memory>
#include <new>
#include <numeric>
#include <queue>
#include <set>
#include <sstream>
#include <stack>
#include <stdexcept>
#include <strstream>
#include <typeinfo>
#include <utility>
#include <valarray>

#ifdef __GLIBCXX__
#include <ext/hash_map>
#include <ext/hash_set>
#include <tr1/functional>
#include <tr1/memory>
#include <tr1/unordered_map>
#include <tr1/unordered_set>
#endif

namespace flux::std_2006 {

// Strings and streams.
using ::std::allocator; using ::std::basic_filebuf; using ::std::basic_fstream; using ::std::basic_ifstream;
using ::std::basic_ios; using ::std::basic_iostream; using ::std::basic_istream; using ::std::basic_istringstream;
using ::std::basic_ofstream; using ::std::basic_ostream; using ::std::basic_ostringstream; using ::std::basic_streambuf;
using ::std::basic_string; using ::std::basic_stringbuf; using ::std::basic_stringstream; using ::std::boolalpha;
using ::std::cerr; using ::std::char_traits; using ::std::cin; using ::std::clog; using ::std::cout; using ::std::dec;
using ::std::endl; using ::std::ends; using ::std::filebuf; using ::std::fixed; using ::std::flush; using ::std::fpos;
using ::std::fstream; using ::std::getline; using ::std::hex; using ::std::ifstream; using ::std::internal;
using ::std::ios; using ::std::ios_base; using ::std::iostream; using ::std::istream; using ::std::istreambuf_iterator;
using ::std::istringstream; using ::std::istrstream; using ::std::left; using ::std::noboolalpha;
using ::std::noshowbase; using ::std::noshowpoint; using ::std::noshowpos; using ::std::noskipws;
using ::std::nounitbuf; using ::std::nouppercase; using ::std::oct; using ::std::ofstream; using ::std::ostream;
using ::std::ostreambuf_iterator; using ::std::ostringstream; using ::std::ostrstream; using ::std::resetiosflags;
using ::std::right; using ::std::scientific; using ::std::setbase; using ::std::setfill; using ::std::setiosflags;
using ::std::setprecision; using ::std::setw; using ::std::showbase; using ::std::showpoint; using ::std::showpos;
using ::std::skipws; using ::std::streambuf; using ::std::streamoff; using ::std::streampos; using ::std::streamsize;
using ::std::string; using ::std::stringbuf; using ::std::stringstream; using ::std::strstream;
using ::std::strstreambuf; using ::std::unitbuf; using ::std::uppercase; using ::std::wcerr; using ::std::wcin;
using ::std::wclog; using ::std::wcout; using ::std::wfilebuf; using ::std::wfstream; using ::std::wifstream;
using ::std::wios; using ::std::wiostream; using ::std::wistream; using ::std::wistringstream; using ::std::wofstream;
using ::std::wostream; using ::std::wostringstream; using ::std::ws; using ::std::wstreambuf; using ::std::wstreampos;
using ::std::wstring; using ::std::wstringbuf; using ::std::wstringstream;

// Containers and iterators.
using ::std::advance; using ::std::back_insert_iterator; using ::std::back_inserter;
using ::std::bidirectional_iterator_tag; using ::std::distance; using ::std::forward_iterator_tag;
using ::std::front_insert_iterator; using ::std::front_inserter; using ::std::input_iterator_tag;
using ::std::insert_iterator; using ::std::inserter; using ::std::istream_iterator; using ::std::iterator;
using ::std::iterator_traits; using ::std::map; using ::std::multimap; using ::std::ostream_iterator;
using ::std::output_iterator_tag; using ::std::random_access_iterator_tag; using ::std::reverse_iterator;
using ::std::vector;

// Exceptions and types.
using ::std::bad_alloc; using ::std::bad_cast; using ::std::bad_exception; using ::std::bad_typeid;
using ::std::domain_error; using ::std::exception; using ::std::invalid_argument; using ::std::length_error;
using ::std::logic_error; using ::std::out_of_range; using ::std::overflow_error; using ::std::range_error;
using ::std::runtime_error; using ::std::set_terminate; using ::std::set_unexpected; using ::std::terminate;
using ::std::terminate_handler; using ::std::type_info; using ::std::uncaught_exception; using ::std::underflow_error;
using ::std::unexpected; using ::std::unexpected_handler;

// The C library.
using ::std::FILE; using ::std::abort; using ::std::asctime; using ::std::atexit; using ::std::atof; using ::std::atoi;
using ::std::atol; using ::std::bsearch; using ::std::calloc; using ::std::clearerr; using ::std::clock;
using ::std::clock_t; using ::std::ctime; using ::std::difftime; using ::std::div; using ::std::div_t;
using ::std::exit; using ::std::fclose; using ::std::feof; using ::std::ferror; using ::std::fflush; using ::std::fgetc;
using ::std::fgetpos; using ::std::fgets; using ::std::fopen; using ::std::fpos_t; using ::std::fprintf;
using ::std::fputc; using ::std::fputs; using ::std::fread; using ::std::free; using ::std::freopen;
using ::std::fscanf; using ::std::fseek; using ::std::fsetpos; using ::std::ftell; using ::std::fwrite;
using ::std::getc; using ::std::getchar; using ::std::getenv; using ::std::gmtime; using ::std::jmp_buf;
using ::std::labs; using ::std::ldiv; using ::std::ldiv_t; using ::std::localtime; using ::std::longjmp;
using ::std::malloc; using ::std::mblen; using ::std::mbstate_t; using ::std::memchr; using ::std::memcmp;
using ::std::memcpy; using ::std::memmove; using ::std::memset; using ::std::mktime; using ::std::perror;
using ::std::printf; using ::std::ptrdiff_t; using ::std::putc; using ::std::putchar; using ::std::puts;
using ::std::qsort; using ::std::raise; using ::std::rand; using ::std::realloc; using ::std::rename;
using ::std::rewind; using ::std::scanf; using ::std::setbuf; using ::std::setlocale; using ::std::setvbuf;
using ::std::sig_atomic_t; using ::std::signal; using ::std::size_t; using ::std::snprintf; using ::std::sprintf;
using ::std::srand; using ::std::sscanf; using ::std::strcat; using ::std::strchr; using ::std::strcmp;
using ::std::strcoll; using ::std::strcpy; using ::std::strcspn; using ::std::strerror; using ::std::strftime;
using ::std::strlen; using ::std::strncat; using ::std::strncmp; using ::std::strncpy; using ::std::strpbrk;
using ::std::strrchr; using ::std::strspn; using ::std::strstr; using ::std::strtod; using ::std::strtok;
using ::std::strtol; using ::std::strtoul; using ::std::strxfrm; using ::std::system; using ::std::time;
using ::std::time_t; using ::std::tm; using ::std::tmpfile; using ::std::tmpnam; using ::std::ungetc;
using ::std::va_list; using ::std::vfprintf; using ::std::vprintf; using ::std::vsnprintf; using ::std::vsprintf;
using ::std::wint_t;

#ifdef FLUX_MORE_HEADERS
// More containers.
using ::std::bitset; using ::std::deque; using ::std::list; using ::std::multiset; using ::std::priority_queue;
using ::std::queue; using ::std::set; using ::std::stack;

// Algorithms.
using ::std::accumulate; using ::std::adjacent_difference; using ::std::adjacent_find; using ::std::binary_search;
using ::std::copy; using ::std::copy_backward; using ::std::count; using ::std::count_if; using ::std::equal;
using ::std::equal_range; using ::std::fill; using ::std::fill_n; using ::std::find; using ::std::find_end;
using ::std::find_first_of; using ::std::find_if; using ::std::for_each; using ::std::generate; using ::std::generate_n;
using ::std::includes; using ::std::inner_product; using ::std::inplace_merge; using ::std::iter_swap;
using ::std::lexicographical_compare; using ::std::lower_bound; using ::std::make_heap; using ::std::max;
using ::std::max_element; using ::std::merge; using ::std::min; using ::std::min_element; using ::std::mismatch;
using ::std::next_permutation; using ::std::nth_element; using ::std::partial_sort; using ::std::partial_sort_copy;
using ::std::partial_sum; using ::std::partition; using ::std::pop_heap; using ::std::prev_permutation;
using ::std::push_heap; using ::std::random_shuffle; using ::std::remove; using ::std::remove_copy;
using ::std::remove_copy_if; using ::std::remove_if; using ::std::replace; using ::std::replace_copy;
using ::std::replace_copy_if; using ::std::replace_if; using ::std::reverse; using ::std::reverse_copy;
using ::std::rotate; using ::std::rotate_copy; using ::std::search; using ::std::search_n; using ::std::set_difference;
using ::std::set_intersection; using ::std::set_symmetric_difference; using ::std::set_union; using ::std::sort;
using ::std::sort_heap; using ::std::stable_partition; using ::std::stable_sort; using ::std::swap;
using ::std::swap_ranges; using ::std::transform; using ::std::unique; using ::std::unique_copy;
using ::std::upper_bound;

// Functions and memory.
using ::std::auto_ptr; using ::std::auto_ptr_ref; using ::std::binary_function; using ::std::binary_negate;
using ::std::bind1st; using ::std::bind2nd; using ::std::binder1st; using ::std::binder2nd;
using ::std::const_mem_fun1_ref_t; using ::std::const_mem_fun1_t; using ::std::const_mem_fun_ref_t;
using ::std::const_mem_fun_t; using ::std::divides; using ::std::equal_to; using ::std::get_temporary_buffer;
using ::std::greater; using ::std::greater_equal; using ::std::less; using ::std::less_equal; using ::std::logical_and;
using ::std::logical_not; using ::std::logical_or; using ::std::make_pair; using ::std::mem_fun;
using ::std::mem_fun1_ref_t; using ::std::mem_fun1_t; using ::std::mem_fun_ref; using ::std::mem_fun_ref_t;
using ::std::mem_fun_t; using ::std::minus; using ::std::modulus; using ::std::multiplies; using ::std::negate;
using ::std::new_handler; using ::std::not1; using ::std::not2; using ::std::not_equal_to; using ::std::nothrow;
using ::std::nothrow_t; using ::std::pair; using ::std::plus; using ::std::pointer_to_binary_function;
using ::std::pointer_to_unary_function; using ::std::ptr_fun; using ::std::raw_storage_iterator;
using ::std::return_temporary_buffer; using ::std::set_new_handler; using ::std::unary_function;
using ::std::unary_negate; using ::std::uninitialized_copy; using ::std::uninitialized_fill;
using ::std::uninitialized_fill_n;

// Numbers and locales.
using ::std::abs; using ::std::acos; using ::std::arg; using ::std::asin; using ::std::atan; using ::std::atan2;
using ::std::ceil; using ::std::codecvt; using ::std::collate; using ::std::complex; using ::std::conj;
using ::std::cos; using ::std::cosh; using ::std::ctype; using ::std::exp; using ::std::fabs;
using ::std::float_denorm_style; using ::std::float_round_style; using ::std::floor; using ::std::fmod;
using ::std::frexp; using ::std::gslice; using ::std::gslice_array; using ::std::has_facet; using ::std::imag;
using ::std::indirect_array; using ::std::isalnum; using ::std::isalpha; using ::std::iscntrl; using ::std::isdigit;
using ::std::isgraph; using ::std::islower; using ::std::isprint; using ::std::ispunct; using ::std::isspace;
using ::std::isupper; using ::std::isxdigit; using ::std::ldexp; using ::std::locale; using ::std::log;
using ::std::log10; using ::std::mask_array; using ::std::messages; using ::std::modf; using ::std::money_get;
using ::std::money_put; using ::std::moneypunct; using ::std::norm; using ::std::num_get; using ::std::num_put;
using ::std::numeric_limits; using ::std::numpunct; using ::std::polar; using ::std::pow; using ::std::real;
using ::std::sin; using ::std::sinh; using ::std::slice; using ::std::slice_array; using ::std::sqrt; using ::std::tan;
using ::std::tanh; using ::std::time_get; using ::std::time_put; using ::std::tolower; using ::std::toupper;
using ::std::use_facet; using ::std::valarray;
#endif

#ifdef __GLIBCXX__
namespace tr1 = ::std::tr1;
#endif
namespace rel_ops = ::std::rel_ops;

} // namespace flux::std_2006

#ifdef FLUX_USING_STD_2006
using namespace flux::std_2006;
#endif

#define std flux::std_2006
// `throw (Error)` after a function's parameters, which C++ has no longer: what it threw it may throw; `throw ()` is
// nothing. The brackets are an attribute there, and an error in an expression, which this must not take for nothing.
#define throw(...) noexcept(sizeof(#__VA_ARGS__) == 1) [[]]

#endif
