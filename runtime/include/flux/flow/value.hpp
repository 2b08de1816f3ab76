/// \file
/// What generated code does with values beyond what C++ has a notation for. Everything else, it writes plainly: values
/// are members of structs, copied, moved and destroyed by the language.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace flux {

/// Copies an array into another of the same type, element by element, nested arrays too: C++ has no such assignment.
template <class Element, std::size_t size>
void copy(Element (&to)[size], const Element (&from)[size])
{
    for (std::size_t i = 0; i < size; ++i) {
        if constexpr (std::is_array_v<Element>) {
            copy(to[i], from[i]);
        } else {
            to[i] = from[i];
        }
    }
}

/// As above, moving each element: `copy(to, std::move(from))`.
template <class Element, std::size_t size>
void copy(Element (&to)[size], Element (&&from)[size])
{
    for (std::size_t i = 0; i < size; ++i) {
        if constexpr (std::is_array_v<Element>) {
            copy(to[i], std::move(from[i]));
        } else {
            to[i] = std::move(from[i]);
        }
    }
}

/// Whether values of a type can be copied (of an array, its elements), and so be kept for an error handler that reads
/// the inputs of the node that failed.
template <class Value>
inline constexpr bool keepable = std::is_copy_constructible_v<std::remove_all_extents_t<Value>>;

} // namespace flux
