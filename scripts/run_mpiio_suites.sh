#!/usr/bin/env bash
# Runs the MPI-IO tests of other projects, each program with the MPI-IO of the MPI library and with libthalweg_mpiio.
#
# Usage: scripts/run_mpiio_suites.sh [SUITE...]     default: all suites, in the order below
#
# Requires: scripts/setup.sh build mpich openmpi suites, and both libraries (see MPICH_LIBRARY). The tests come from source
# packages of Debian and of the Python package index; they are fetched and built once, in build/mpiio_suites. Prints one
# line per program, and at the end one per suite. Exit status: 1 when a program passes with the MPI-IO of the MPI library
# only, or when a suite could not be built; otherwise 0.
# Environment:
#   MPIS           MPI libraries to use (default: mpich openmpi)
#   RANKS          most ranks of a program (default 4)
#   SECONDS_EACH   a program that runs longer is stopped: it is late (default 300)
#   PROGRAMS       regular expression: names of the programs to run (default: all)
#   MPICH_LIBRARY, OPENMPI_LIBRARY    libthalweg_mpiio for each (default: those of the presets release and openmpi)
#   PIP_OPTIONS    more options of 'pip install'
# Three programs need over 6 GB of memory (bigtype and i_bigtype of mpich) or of disk (large_array of romio).
set -uo pipefail
shopt -s lastpipe # what ends a pipeline counts in this shell
cd "$(dirname "$0")/.." || exit 2
place=$PWD/build/mpiio_suites
src=$place/src
most_ranks=${RANKS:-4}
all_suites=(romio mpich cxx fortran hdf5 netcdf pnetcdf mpi4py h5py)
hdf5_libraries=/usr/lib/$(gcc -print-multiarch)/hdf5
jobs=$(nproc)
declare -A library=(
  [mpich]=${MPICH_LIBRARY:-$PWD/build/release/lib/libthalweg_mpiio.so}
  [openmpi]=${OPENMPI_LIBRARY:-$PWD/build/openmpi/lib/libthalweg_mpiio.so})
# MPICH: waiting ranks give their core to others.
export HYDRA_LAUNCHER=fork MPIR_CVAR_CH4_PROGRESS_THROTTLE=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# --- run a program twice ----------------------------------------------------------------------------------------------

launch() { # MPI own|ours RANKS COMMAND...
  local mpi=$1 who=$2 ranks=$3 launcher=(mpiexec.mpich)
  shift 3
  ((ranks <= most_ranks)) || ranks=$most_ranks
  if [ "$mpi" = openmpi ]; then
    launcher=(mpiexec.openmpi --oversubscribe --bind-to none --mca mpi_yield_when_idle 1
      --mca btl_vader_single_copy_mechanism none --mca btl_base_warn_component_unused 0)
  fi
  [ "$who" = own ] || set -- env "LD_PRELOAD=${LD_PRELOAD:+$LD_PRELOAD:}${library[$mpi]}" "$@"
  timeout -k 5 "${SECONDS_EACH:-300}" "${launcher[@]}" -n "$ranks" "$@" < /dev/null
}

# A program that passed exits with 0, prints what matches `passing`, and nothing that matches `failing`.
passing='' failing=''
verdict() { # STATUS LOG
  case $1 in
    0) grep -qaE -- "$passing" "$2" && { [ -z "$failing" ] || ! grep -qaE -- "$failing" "$2"; } && echo passed || echo FAILED ;;
    124 | 137) echo late ;;
    *) echo FAILED ;;
  esac
}

# first[PROGRAM]: runs before PROGRAM, in its directory, whatever its exit status: it writes what PROGRAM reads.
declare -A first=([t_pflush2]=t_pflush1 [t_prestart]=t_pshutdown [pres_temp_4D_rd]=pres_temp_4D_wr)
declare -A n_run=() n_passed=()
n_worse=0 n_not_built=0

compare() { # SUITE MPI RANKS NAME COMMAND...
  local suite=$1 mpi=$2 ranks=$3 name=$4 who room log status result results=()
  shift 4
  [[ $name =~ ${PROGRAMS:-} ]] || return 0
  for who in own ours; do
    room=$place/rooms/$suite-$mpi-$who
    log=$place/logs/$suite-$mpi-$name-$who
    rm -rf "$room"
    mkdir -p "$room" "$place/logs"
    status=0
    (
      cd "$room" || exit
      [ ! -x "$1" ] || ln -s "$1" . # t_cache_image starts itself as ./t_cache_image
      [ -z "${first[$name]:-}" ] || launch "$mpi" "$who" "$ranks" "${1%/*}/${first[$name]}" "${@:2}" > /dev/null 2>&1
      launch "$mpi" "$who" "$ranks" "$@"
    ) > "$log" 2>&1 || status=$?
    result=$(verdict "$status" "$log")
    results+=("$result")
    [ "$result" != passed ] || n_passed[$suite $mpi $who]=$((${n_passed[$suite $mpi $who]:-0} + 1))
    rm -rf "$room"
  done
  n_run[$suite $mpi]=$((${n_run[$suite $mpi]:-0} + 1))
  case "${results[*]}" in passed\ [!p]*) n_worse=$((n_worse + 1)) ;; esac
  printf '%-8s %-8s %-26s own %-7s ours %s\n' "$suite" "$mpi" "$name" "${results[@]}"
}

# Reads lines 'RANKS PROGRAM ARGUMENTS'.
compare_all() { # SUITE MPI DIRECTORY
  local ranks program arguments
  while read -r ranks program arguments; do
    if [ -x "$3/$program" ]; then
      # shellcheck disable=SC2086  # arguments are words
      compare "$1" "$2" "$ranks" "$program" "$3/$program" $arguments
    else
      printf '%-8s %-8s %-26s not built\n' "$1" "$2" "$program"
    fi
  done
}

# --- sources ----------------------------------------------------------------------------------------------------------

# Unpacks a source package from where the system has its packages, by lists of its own: the system's may be without sources.
fetch() { # PACKAGE
  local file apt=(apt-get -q -o Dir::Etc::SourceList=- -o "Dir::Etc::SourceParts=$place/sources" -o "Dir::State::Lists=$place/lists")
  [ ! -d "$src/$1" ] || return 0
  mkdir -p "$place/lists/partial" "$src/$1.part"
  if [ ! -e "$place/sources" ]; then
    mkdir "$place/sources"
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do
      [ ! -f "$file" ] || sed -e 's/^deb /deb-src /' -e 's/^Types:.*/Types: deb-src/' "$file" > "$place/sources/$(basename "$file")"
    done
    "${apt[@]}" update
  fi
  (cd "$src" && "${apt[@]}" source --download-only "$1") &&
    tar xf "$src/$1"_*.orig.tar.* -C "$src/$1.part" --strip-components=1 && mv "$src/$1.part" "$src/$1"
}

# Names that MPI 3 removed: Open MPI's library still has what its header refuses.
removed_names() {
  cat > "$place/removed.h" << 'END'
#include <mpi.h>
#ifdef OPEN_MPI
#undef MPI_LB
#undef MPI_UB
extern struct ompi_predefined_datatype_t ompi_mpi_lb, ompi_mpi_ub;
#define MPI_LB OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_lb)
#define MPI_UB OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_ub)
#endif
END
}
c_flags=(-w -O1 -DOMPI_OMIT_MPI1_COMPAT_DECLS=0 -include "$place/removed.h")

# --- suites: build the programs, list them, run them ------------------------------------------------------------------

# ROMIO's own tests, with the ranks of its runtests.
build_romio() { # MPI
  local from=$src/mpich/src/mpi/romio/test to=$place/build/$1/romio source name
  mkdir -p "$to"
  for source in "$from"/*.c "$from"/{misc,large_file}.c.in; do
    name=$(basename "${source%.in}" .c)
    # Smaller arrays: coll_perf writes 14 GB.
    [ -f "$to/$name.c" ] || sed -e 's/@LL@/lld/g' -e '/array_of_gsizes\[[0-2]\] = /s/= .*/= 256;/' "$source" > "$to/$name.c"
    [ -x "$to/$name" ] || "mpicc.$1" "${c_flags[@]}" -o "$to/$name" "$to/$name.c" -lm
  done
  true
}
list_romio() {
  local name
  for name in simple async async-multiple coll_test coll_perf perf excl creat_excl file_info noncontig_coll2 misc \
    shared_fp ordered_fp split_coll psimple atomicity; do
    echo "4 $name -fname test"
  done
  for name in i_noncontig noncontig noncontig_coll; do echo "2 $name -fname test"; done
  for name in error status external32 large_file; do echo "1 $name -fname test"; done
  for name in aggregation2 hindexed darray_read; do echo "4 $name test"; done
  echo "4 aggregation1 -h -f test"
  echo "2 types_with_zeros test"
  echo "1 big_extents test"
  echo "1 syshints $src/mpich/src/mpi/romio/test/test_hintfile"
}
suite_romio() { # MPI
  fetch mpich && removed_names && build_romio "$1" > "$place/logs/romio-$1-build" 2>&1 || return
  passing='' failing='[Ff]ound [1-9][0-9]* errors|readbuf\['
  list_romio | compare_all romio "$1" "$place/build/$1/romio"
}

# MPICH's tests: C, C++, Fortran 77, 90 and 2008.
build_mpich() { # MPI DIRECTORY...
  local to=$place/build/$1/mpich directory flags='-w -fallow-argument-mismatch'
  mkdir -p "$to"
  (
    cd "$to" || exit
    [ -f Makefile ] ||
      MPICC=mpicc.$1 MPICXX=mpicxx.$1 MPIF77=mpif77.$1 MPIFC=mpif90.$1 FFLAGS=$flags FCFLAGS=$flags CXXFLAGS='-w -O1' \
        "$src/mpich/test/mpi/configure" --disable-dependency-tracking
    for directory in "${@:2}"; do make -C "$directory" -k -j "$jobs" CFLAGS="${c_flags[*]}"; done
    true
  )
}
# Makes lines 'RANKS PROGRAM ARGUMENTS' from lines 'PROGRAM RANKS arg=ARGUMENT...', without those that need over 2 GiB.
list_mpich() { # DIRECTORY
  local list=$src/mpich/test/mpi/$1/testlist
  [ -f "$list" ] || list=$list.in
  sed -e '/^#/d' -e '/^$/d' -e '/mem=/d' -e 's/arg=//g' "$list" | awk '{n = $2; $2 = $1; $1 = n; print}'
}
run_mpich() { # SUITE MPI DIRECTORY...
  local directory
  passing='No Errors' failing=''
  export MPITEST_RETURN_WITH_CODE=yes
  for directory in "${@:3}"; do list_mpich "$directory" | compare_all "$1" "$2" "$place/build/$2/mpich/$directory"; done
}
suite_mpich() { # MPI
  fetch mpich && removed_names && build_mpich "$1" dtpools util io errors/io > "$place/logs/mpich-$1-build" 2>&1 || return
  run_mpich mpich "$1" io errors/io
}
# Open MPI's C++ interface lacks names that the tests use.
suite_cxx() { # MPI
  [ "$1" = mpich ] || return 0
  fetch mpich && removed_names && build_mpich "$1" util cxx/io errors/cxx/io > "$place/logs/cxx-$1-build" 2>&1 || return
  run_mpich cxx "$1" cxx/io errors/cxx/io
}
# The makefile of f08/io links the helpers of the module mpi. (c2f2ciof90 needs more, and is not built.)
build_f08() { # MPI
  local from=$src/mpich/test/mpi name source
  local fortran=("mpif90.$1" -w -fallow-argument-mismatch -O1)
  (
    cd "$place/build/$1/mpich/f08/io" || exit
    "${fortran[@]}" -c "$from/util/mtest_f08.f90" -o helpers.o
    while read -r _ name _; do
      source=$from/f08/io/$name.f90
      [ -f "$source" ] || source=$name.f90
      [ -x "$name" ] || [ ! -f "$source" ] || "${fortran[@]}" -o "$name" "$source" helpers.o
    done < <(list_mpich f08/io)
  )
}
suite_fortran() { # MPI
  local directories=(f77/io f90/io f08/io errors/f77/io errors/f90/io)
  fetch mpich && removed_names &&
    { build_mpich "$1" util "${directories[@]}" && build_f08 "$1"; } > "$place/logs/fortran-$1-build" 2>&1
  run_mpich fortran "$1" "${directories[@]}"
}

# HDF5's parallel tests, linked with Debian's HDF5 of the same version, which exports what is private to HDF5.
list_hdf5() {
  local name
  for name in t_mpi t_init_term t_pshutdown t_prestart t_pflush2 t_pread testphdf5 t_cache t_cache_image \
    t_filters_parallel t_shapesame t_bigio; do
    echo "$most_ranks $name"
  done
}
build_hdf5() { # MPI
  local from=$src/hdf5 to=$place/build/$1/hdf5 name sources
  # NDEBUG: the layout of private structures depends on it.
  local compile=("mpicc.$1" -w -O1 -DNDEBUG "-I$from/testpar" "-I$from/test" "-I$from/src" "-I/usr/include/hdf5/$1" -I.)
  mkdir -p "$to"
  (
    cd "$to" || exit
    sed 's/@srcdir@/./' "$from/test/H5srcdir_str.h.in" > H5srcdir_str.h
    for name in h5test testframe cache_common external_common; do "${compile[@]}" -c "$from/test/$name.c" || exit; done
    ar rcs libh5test.a ./*.o
    for name in t_pflush1 $(list_hdf5 | awk '{print $2}'); do
      sources=("$from/testpar/$name.c")
      [ "$name" != testphdf5 ] || sources+=("$from"/testpar/t_{dset,file,file_image,mdset,ph5basic,coll_chunk,span_tree,chunk_alloc,filter_read,prop,coll_md_read}.c)
      [ -x "$name" ] ||
        "${compile[@]}" -o "$name" "${sources[@]}" libh5test.a "-L$hdf5_libraries/$1" "-Wl,-rpath,$hdf5_libraries/$1" -lhdf5 -lz -ldl -lm
    done
  )
}
suite_hdf5() { # MPI
  fetch hdf5 && build_hdf5 "$1" > "$place/logs/hdf5-$1-build" 2>&1 || return
  passing='' failing='\*FAILED\*'
  export HDF5_PARAPREFIX=. HDF5TestExpress=${HDF5TestExpress:-2}
  list_hdf5 | compare_all hdf5 "$1" "$place/build/$1/hdf5"
}

# The parallel tests of NetCDF-4.
list_netcdf() {
  local name
  echo "1 tst_mode"
  for name in tst_mpi_parallel tst_parallel tst_parallel3 tst_parallel4 tst_parallel5 tst_parallel6 tst_nc4perf \
    tst_simplerw_coll_r tst_parallel_zlib tst_parallel_compress tst_quantize_par; do
    echo "4 $name"
  done
}
build_netcdf() { # MPI
  local to=$place/build/$1/netcdf directory
  mkdir -p "$to"
  (
    cd "$to" || exit
    [ -f Makefile ] ||
      "$src/netcdf/configure" --disable-dap --disable-nczarr --disable-byterange --disable-libxml2 --disable-utilities \
        --disable-shared --enable-parallel-tests CC="mpicc.$1" CFLAGS='-O1 -w' CPPFLAGS="-I/usr/include/hdf5/$1" \
        LDFLAGS="-L$hdf5_libraries/$1 -Wl,-rpath,$hdf5_libraries/$1" || exit
    for directory in include libdispatch libsrc libsrc4 libhdf5 liblib; do make -C "$directory" -j "$jobs" || exit; done
    # shellcheck disable=SC2046  # names of programs
    make -C nc_test4 -k -j "$jobs" $(list_netcdf | awk '{print $2}')
  )
}
suite_netcdf() { # MPI
  fetch netcdf && build_netcdf "$1" > "$place/logs/netcdf-$1-build" 2>&1 || return
  passing='' failing='Sorry!'
  list_netcdf | compare_all netcdf "$1" "$place/build/$1/netcdf/nc_test4"
}

# PnetCDF's tests.
build_pnetcdf() { # MPI
  local to=$place/build/$1/pnetcdf
  mkdir -p "$to"
  [ -f "$src/pnetcdf/configure" ] || (cd "$src/pnetcdf" && autoreconf -i)
  (
    cd "$to" || exit
    [ -f Makefile ] ||
      CFLAGS='-O1 -w' "$src/pnetcdf/configure" --disable-fortran --disable-cxx --disable-shared --enable-static MPICC="mpicc.$1" || exit
    make -C src -j "$jobs" || exit
    make -C test -k -j "$jobs" tests
    true
  )
}
list_pnetcdf() { # MPI DIRECTORY
  local name ranks=$most_ranks
  [ "$2" != nc_test ] || ranks=1
  # shellcheck disable=SC2016  # for make
  for name in $(make -s -C "$place/build/$1/pnetcdf/test/$2" -f Makefile -f - names <<< 'names: ; @echo $(check_PROGRAMS)'); do
    case $name in
      nc_test) echo "1 nc_test -d ." ;;
      tst_open_cdf5) echo "1 $name $src/pnetcdf/test/$2/bad_begin.nc5" ;;
      test_inq_format | tst_corrupt) echo "1 $name $src/pnetcdf/test/$2" ;;
      *) echo "$ranks $name test.nc" ;;
    esac
  done
}
suite_pnetcdf() { # MPI
  local directory
  fetch pnetcdf && build_pnetcdf "$1" > "$place/logs/pnetcdf-$1-build" 2>&1 || return
  passing='' failing='fail|[Ee]rror at'
  for directory in C testcases nonblocking cdf_format header nc_test; do
    list_pnetcdf "$1" "$directory" | compare_all pnetcdf "$1" "$place/build/$1/pnetcdf/test/$directory"
  done
}

# mpi4py: the wheel serves both MPI libraries; it looks for MPICH by the name of its ABI, which Debian's library lacks.
mpi4py=4.1.1
make_python() { # MPI
  local python=$place/python/$1
  [ ! -f "$python/lib/libmpi.so.12" ] || return 0
  # shellcheck disable=SC2086  # options are words
  python3 -m venv "$python" &&
    "$python/bin/pip" install -q ${PIP_OPTIONS:-} --only-binary :all: "mpi4py==$mpi4py" 'numpy==2.1.3' 'cython==3.0.12' pkgconfig \
      setuptools wheel pytest pytest-mpi &&
    ln -sf "$(gcc -print-file-name=libmpich.so.12)" "$python/lib/libmpi.so.12"
}
python_of() { # MPI: sets `python`
  python=(env "MPI4PY_MPIABI=$1" "LD_LIBRARY_PATH=$place/python/$1/lib" PYTHONDONTWRITEBYTECODE=1 "$place/python/$1/bin/python")
}
suite_mpi4py() { # MPI
  local ranks python
  make_python "$1" || return
  if [ ! -d "$src/mpi4py" ]; then
    mkdir -p "$src/mpi4py"
    "$place/python/$1/bin/pip" download -q --no-binary mpi4py --no-deps --no-build-isolation -d "$src" "mpi4py==$mpi4py" &&
      tar xf "$src/mpi4py-$mpi4py.tar.gz" -C "$src/mpi4py" --strip-components=1 || return
  fi
  passing='^OK' failing=''
  python_of "$1"
  for ranks in 1 2 3; do
    compare mpi4py "$1" "$ranks" "test_io-$ranks" "${python[@]}" "$src/mpi4py/test/main.py" -q -i test_io -i test_file
  done
}

# The tests of h5py that need MPI.
suite_h5py() { # MPI
  local ranks python
  make_python "$1" || return
  python_of "$1"
  # shellcheck disable=SC2086  # options are words
  "${python[@]}" -c 'import h5py' 2> /dev/null ||
    CC=mpicc.$1 HDF5_MPI=ON HDF5_DIR=$hdf5_libraries/$1 "${python[@]}" -m pip install -q --no-cache-dir ${PIP_OPTIONS:-} --no-deps --no-build-isolation \
      --no-binary h5py h5py==3.12.1 > "$place/logs/h5py-$1-build" 2>&1 || return
  passing='[1-9][0-9]* passed' failing='[0-9] failed|[0-9] error'
  for ranks in 1 2 3; do
    compare h5py "$1" "$ranks" "h5py-$ranks" "${python[@]}" -m pytest -q -p no:cacheprovider --with-mpi -m mpi --pyargs h5py
  done
}

# --- all --------------------------------------------------------------------------------------------------------------

suites=("$@")
[ $# -gt 0 ] || suites=("${all_suites[@]}")
for suite in "${suites[@]}"; do
  [[ " ${all_suites[*]} " == *" $suite "* ]] || { echo "run_mpiio_suites.sh: unknown suite '$suite' (${all_suites[*]})" >&2; exit 2; }
done
read -ra mpis <<< "${MPIS:-mpich openmpi}"
for mpi in "${mpis[@]}"; do
  [ -f "${library[$mpi]}" ] || { echo "run_mpiio_suites.sh: '${library[$mpi]}' does not exist; build the target thalweg_mpiio" >&2; exit 2; }
done
mkdir -p "$place/logs" "$src"
for suite in "${suites[@]}"; do
  for mpi in "${mpis[@]}"; do
    "suite_$suite" "$mpi" && [[ $suite-$mpi = cxx-openmpi || ${n_run[$suite $mpi]:-0} -gt 0 || -n ${PROGRAMS:-} ]] && continue
    echo "run_mpiio_suites.sh: the suite $suite could not be built for $mpi (logs are in $place/logs)" >&2
    n_not_built=$((n_not_built + 1))
  done
done

echo "== programs that passed"
for suite in "${suites[@]}"; do
  for mpi in "${mpis[@]}"; do
    printf '%-8s %-8s own %3d, ours %3d of %3d\n' "$suite" "$mpi" "${n_passed[$suite $mpi own]:-0}" \
      "${n_passed[$suite $mpi ours]:-0}" "${n_run[$suite $mpi]:-0}"
  done
done
echo "$n_worse programs pass with the MPI-IO of the MPI library only"
[ $((n_worse + n_not_built)) = 0 ]
