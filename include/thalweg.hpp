/* thalweg for C++17: the C headers, with destructors in the place of scopes and functions in the place of macros.
 *
 *     tw::ref<tw_tensor> x = tw::made(tw_tensor_new(TW_FLOAT32, tw::shape({ 2, 2 }), numbers));
 *     auto columns = tw::sort(x, [](auto &options) { options.axis = 0; });
 *     tw::check();                                       // throws tw::error if anything failed before
 *
 * What is required comes first; the last argument, which may be left out, sets options: it gets the argument struct of the C call
 * (tw_sort_args) with the defaults in it. What functions give releases itself. Ownership and errors are those of
 * <thalweg/base.h>: what is passed is borrowed, the first error is kept. */
#ifndef THALWEG_HPP
#define THALWEG_HPP

#include <cstdlib>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>

#include <thalweg/thalweg.h>

namespace tw
{

/* One reference to a handle. */
template <class T> class ref
{
  public:
    ref() = default;
    explicit ref(T *taken) : object(taken)
    {
    }
    ref(const ref &other) : object(static_cast<T *>(tw_retain(other.object)))
    {
    }
    ref(ref &&other) noexcept : object(std::exchange(other.object, nullptr))
    {
    }
    ref &operator=(ref other) noexcept
    {
        std::swap(object, other.object);
        return *this;
    }
    ~ref()
    {
        tw_release(object);
    }
    operator T *() const
    {
        return object;
    }
    T *get() const
    {
        return object;
    }
    T *give()
    {
        return std::exchange(object, nullptr);
    } /* the caller's, for tw_release */

  private:
    T *object = nullptr;
};

/* What a C function gave. */
template <class T> ref<T> made(T *object)
{
    return ref<T>(object);
}

/* A list or a value, which ends with this. */
template <class T, void (*end)(T *)> class owned
{
  public:
    owned() = default;
    explicit owned(T taken) : content(taken)
    {
    }
    owned(const owned &) = delete;
    owned(owned &&other) noexcept : content(std::exchange(other.content, T{}))
    {
    }
    owned &operator=(owned &&other) noexcept
    {
        std::swap(content, other.content);
        return *this;
    }
    ~owned()
    {
        end(&content);
    }
    operator const T &() const
    {
        return content;
    }
    const T *operator->() const
    {
        return &content;
    }
    const T &get() const
    {
        return content;
    }

  private:
    T content{};
};

using tensors = owned<tw_tensors, tw_tensors_free>;
using objects = owned<tw_objects, tw_objects_free>;
using value = owned<tw_value, tw_value_free>;

inline std::string text(char *taken)
{
    std::string copy = taken ? taken : "";
    std::free(taken);
    return copy;
}

inline tw_shape shape(std::initializer_list<int64_t> dims)
{
    tw_shape made{};
    for (int64_t d : dims)
        if (made.rank < TW_MAX_RANK)
            made.dims[made.rank++] = d;
    return made;
}

/* An error of the library. */
struct error : std::runtime_error {
    tw_status code;
    error(tw_status status, const std::string &message) : std::runtime_error(message), code(status)
    {
    }
};

/* Throws the thread's error, if there is one, and clears it. */
inline void check()
{
    tw_status code = TW_OK;
    std::string message = text(tw_take_error(&code));
    if (code != TW_OK)
        throw error(code, message);
}

} // namespace tw

#include <thalweg/api.hpp>

#endif
