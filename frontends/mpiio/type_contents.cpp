#include "mpiio/type_contents.hpp"

#include "mpiio/layout.hpp"

namespace thalweg::mpiio {

TypeContents::TypeContents(MPI_Datatype type) { read(type); }

TypeContents::~TypeContents() {
  for (MPI_Datatype& type : types)
    if (!is_predefined(type)) MPI_Type_free(&type);
}

}  // namespace thalweg::mpiio
