#include "support/memory/replaced_new.hpp"
