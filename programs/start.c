/* The program's first function. */
#include "program.h"

int main(int count, char **arguments)
{
    return program(count, arguments);
}
