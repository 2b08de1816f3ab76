/// \file
/// How a function that a header declares fits what a program asks of it, found by the C++ compiler itself: names and
/// overloads, references and conversions are its own business. A file that includes the program's headers and this one
/// is compiled, and the compiler's errors name the answers: `flux_answer<3, 2, 0, 1>`.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

/// Never defined, so that the compiler names it: the number of the question, and the answer.
template <int... numbers>
struct flux_answer;

/// Never defined, so that the compiler names the type of the function.
template <class Function>
struct flux_type;

namespace flux_probe {

/// What a function's result is; what an answer starts with. The last two are a value or an error, and success or an
/// error.
enum result { no_fit = -1, structs, nothing, error, output, expected_output, expected_success };
/// How a value is passed.
enum passing { does_not_fit = -1, value, moved, address, seen };

/// What a node takes, or gives.
template <class... Types>
struct list {};

/// Whether a number becomes another without loss; whether anything else converts at all.
template <class From, class To>
constexpr bool converts()
{
    using Source = std::remove_cvref_t<From>;
    using Target = std::remove_cvref_t<To>;
    if constexpr (!std::is_convertible_v<From, To>) {
        return false;
    } else if constexpr (std::is_arithmetic_v<Target> && !std::is_same_v<Source, Target>) {
        return requires(Source source) { Target{source}; };
    } else {
        return true;
    }
}

/// How a node's input of this type is passed as such a parameter.
template <class Type, class Parameter>
constexpr int input()
{
    using Pointed = std::remove_cv_t<std::remove_pointer_t<Parameter>>;
    if constexpr (std::is_class_v<Type> && !std::is_lvalue_reference_v<Parameter> && converts<Type &&, Parameter>()) {
        return moved;
    } else if constexpr (converts<const Type &, Parameter>()) {
        return seen;
    } else if constexpr (converts<Type &, Parameter>()) {
        return value;
    } else if constexpr (converts<Type &&, Parameter>()) {
        return moved;
    } else if constexpr (std::is_pointer_v<Parameter> && std::is_same_v<Pointed, Type>) {
        return address;
    } else {
        return does_not_fit;
    }
}

/// How a node's output of this type is passed as such a parameter.
template <class Type, class Parameter>
constexpr int out()
{
    const bool is_array = std::is_array_v<Type> && std::is_same_v<std::decay_t<Type>, Parameter>;
    if constexpr (std::is_same_v<Parameter, Type &> || is_array) {
        return value;
    } else if constexpr (std::is_same_v<Parameter, Type *>) {
        return address;
    } else {
        return does_not_fit;
    }
}

/// Whether a result is a value or an error: `flux::expected<Out, int>`, or that of the standard library.
template <class Result>
concept expectation = requires(Result result) {
    { result.has_value() } -> std::same_as<bool>;
    { result.error() } -> std::convertible_to<int>;
};

/// Whether the only output can be assigned from the result.
template <class Result, class... Outputs>
constexpr bool gives()
{
    if constexpr (sizeof...(Outputs) == 1) {
        return (... && (std::is_assignable_v<Outputs &, Result> && converts<Result, Outputs>()));
    } else {
        return false;
    }
}

/// The result of a function that has all outputs as parameters, or none.
template <class Result, class... Outputs>
constexpr int result_of(bool has_outputs)
{
    if constexpr (std::is_void_v<Result>) {
        return has_outputs ? nothing : no_fit;
    } else if constexpr (std::is_same_v<Result, int>) {
        return has_outputs ? error : no_fit;
    } else if constexpr (expectation<Result>) {
        if constexpr (requires(Result result) { *std::move(result); }) {
            using Value = decltype(*std::declval<Result>());
            return !has_outputs && gives<Value, Outputs...>() ? expected_output : no_fit;
        } else {
            return has_outputs ? expected_success : no_fit;
        }
    } else {
        return !has_outputs && gives<Result, Outputs...>() ? output : no_fit;
    }
}

/// The answer for a function of this type: what the result is, then how each input is passed and each output.
template <class Function, class In, class Out, class Inputs, class Outputs>
struct fit;

template <class Result, class... Parameters, class In, class Out, class... Inputs, class... Outputs>
struct fit<Result (*)(Parameters...), In, Out, list<Inputs...>, list<Outputs...>> {
    static constexpr std::size_t taken = sizeof...(Parameters);
    static constexpr std::size_t asked = sizeof...(Inputs) + sizeof...(Outputs);

    template <std::size_t... all>
    static constexpr void pass(std::array<int, asked + 1> &found, std::index_sequence<all...>)
    {
        ((found[all + 1] = passed<all>()), ...);
        const bool fits = (... && (passed<all>() != does_not_fit));
        found[0] = fits ? found[0] : static_cast<int>(no_fit);
    }

    template <std::size_t index, class First, class... Others>
    static constexpr auto at()
    {
        if constexpr (index == 0) {
            return std::type_identity<First>();
        } else {
            return at<index - 1, Others...>();
        }
    }

    template <std::size_t index>
    static constexpr int passed()
    {
        using Asked = typename decltype(at<index, Inputs..., Outputs...>())::type;
        using Taken = typename decltype(at<index, Parameters...>())::type;
        if constexpr (index < sizeof...(Inputs)) {
            return input<Asked, Taken>();
        } else {
            return out<Asked, Taken>();
        }
    }

    static constexpr std::array<int, asked + 1> find()
    {
        std::array<int, asked + 1> found{};
        if constexpr (taken > 0 && (... && (std::is_same_v<Parameters, In *> || std::is_same_v<Parameters, Out *>))) {
            found[0] = structs;
        } else if constexpr (taken == asked) {
            found[0] = result_of<Result, Outputs...>(true);
            pass(found, std::make_index_sequence<asked>());
        } else if constexpr (taken == sizeof...(Inputs)) {
            found[0] = result_of<Result, Outputs...>(false);
            pass(found, std::make_index_sequence<taken>());
        } else {
            found[0] = no_fit;
        }
        return found;
    }
};

template <class Result, class... Parameters, class In, class Out, class Inputs, class Outputs>
struct fit<Result (*)(Parameters...) noexcept, In, Out, Inputs, Outputs>
    : fit<Result (*)(Parameters...), In, Out, Inputs, Outputs> {};

/// A type of function that a call with these arguments would be of, where one of the overloads takes them.
template <template <class...> class Call, class... Arguments>
constexpr auto called()
{
    if constexpr (requires { typename Call<Arguments...>; }) {
        return std::type_identity<Call<Arguments...> (*)(Arguments...)>();
    } else {
        return std::type_identity<void>();
    }
}

/// How an input of this type is passed where objects go by their addresses.
template <class Type>
using pointed = std::conditional_t<std::is_class_v<Type>, Type *, Type &>;

/// The answer for an overloaded function, of which the compiler shows no type: `Call` is the result of a call.
template <template <class...> class Call, class In, class Out, class Inputs, class Outputs>
struct overloads;

template <template <class...> class Call, class In, class Out, class... Inputs, class... Outputs>
struct overloads<Call, In, Out, list<Inputs...>, list<Outputs...>> {
    using found = std::array<int, 1 + sizeof...(Inputs) + sizeof...(Outputs)>;

    template <class... Arguments>
    static constexpr bool attempt(found &answer)
    {
        using Function = typename decltype(called<Call, Arguments...>())::type;
        if constexpr (std::is_void_v<Function>) {
            return false;
        } else {
            answer = fit<Function, In, Out, list<Inputs...>, list<Outputs...>>::find();
            return answer[0] > no_fit;
        }
    }

    static constexpr found find()
    {
        found answer{};
        const bool fits = attempt<In *, Out *>(answer) || attempt<In *>(answer) || attempt<Out *>(answer) ||
                          attempt<Inputs &..., Outputs &...>(answer) || attempt<Inputs &&..., Outputs &...>(answer) ||
                          attempt<Inputs &...>(answer) || attempt<Inputs &&...>(answer) ||
                          attempt<pointed<Inputs>..., Outputs &...>(answer) || attempt<pointed<Inputs>...>(answer);
        if (!fits) {
            answer[0] = no_fit;
        }
        return answer;
    }
};

/// The answer for a function whose result is wanted as such: of one struct, or of the values themselves.
template <template <class...> class Call, class Wanted, class In, class Inputs>
struct gives_one;

template <template <class...> class Call, class Wanted, class In, class... Inputs>
struct gives_one<Call, Wanted, In, list<Inputs...>> {
    template <class... Arguments>
    static constexpr bool attempt()
    {
        if constexpr (requires { typename Call<Arguments...>; }) {
            return std::is_convertible_v<Call<Arguments...>, Wanted>;
        } else {
            return false;
        }
    }

    static constexpr std::array<int, 1> find()
    {
        if constexpr (!std::is_void_v<In>) {
            if (attempt<In *>()) {
                return {structs};
            }
        }
        return {attempt<Inputs &...>() ? output : no_fit};
    }
};

} // namespace flux_probe
