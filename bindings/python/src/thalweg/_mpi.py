"""The messages of a group over an mpi4py communicator. mpi4py is imported only when a communicator is given."""

_PIECE = 1 << 30  # bytes of one message: counts of many an MPI end at 2**31 - 1
_TAG = 1


def transport(comm):
    """The messages between the ranks of an intracommunicator, which is duplicated. Collective."""
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise TypeError(f"comm must be a communicator of mpi4py, which cannot be imported ({error})") from None
    if not isinstance(comm, MPI.Intracomm):
        raise TypeError(f"comm must be an intracommunicator of mpi4py, not {type(comm).__name__}")
    return Transport(MPI, comm)


def _pieces(data):
    return (data[i : i + _PIECE] for i in range(0, len(data), _PIECE))


class Transport:
    """Messages of bytes, as ``tw_transport`` of ``thalweg/group.h`` describes them."""

    def __init__(self, MPI, comm):
        self._mpi = MPI
        self._comm = comm.Dup()
        self._largest = comm.Dup()  # separate: a message left by a failed call must not match another call
        self._pending = {}
        self.rank = comm.Get_rank()
        self.size = comm.Get_size()

    def duplicate(self):
        return Transport(self._mpi, self._comm)

    def start_largest(self, numbers):
        if self._mpi.Is_finalized():
            raise RuntimeError("MPI is finalised")
        request = self._largest.Iallreduce(self._mpi.IN_PLACE, [numbers, self._mpi.INT64_T], self._mpi.MAX)
        number = len(self._pending)
        self._pending[number] = (request, numbers)
        return number

    def finish_largest(self, number):
        request, _ = self._pending.pop(number)
        request.Wait()

    def send_receive(self, out, to, into, source):
        requests = []
        if source >= 0:
            requests += [self._comm.Irecv([piece, self._mpi.BYTE], source, _TAG) for piece in _pieces(into)]
        if to >= 0:
            requests += [self._comm.Isend([piece, self._mpi.BYTE], to, _TAG) for piece in _pieces(out)]
        self._mpi.Request.Waitall(requests)

    def free(self):
        """Free the communicators when no rank uses them any more."""
        if self._mpi.Is_finalized() or self._pending:  # an abandoned call: other ranks may still use it
            return
        self._comm.Free()
        self._largest.Free()
