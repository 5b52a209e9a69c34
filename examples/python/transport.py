"""Monte-Carlo transport of particles through a shield with a bent duct, on one task or on the ranks of MPI.

Each cell of the grid has a stream: every step appends the number of particles in the cell, then these particles. Each
rank has the cells of a box; particles that leave it move to the rank of the box they enter. Random numbers belong to
particles, so that any number of ranks computes equal results. transport_view.py reads the file.
"""

import argparse

import numpy as np
import thalweg

# A particle: cells are squares of side 1, the speed is 1, (u, v) is the direction.
PARTICLE = np.dtype([("id", "i8"), ("draws", "i8"), ("x", "f8"), ("y", "f8"), ("u", "f8"), ("v", "f8"),
                     ("weight", "f8")])
# Collisions per unit length, and the remaining weight after one, the rest is absorbed: air, shield, room.
COLLISIONS = np.array([0.01, 0.4, 0.06])
SCATTERED = np.array([0.95, 0.8, 0.95])
DENSEST = COLLISIONS.max()


def materials(shape):
    """For each cell its number in COLLISIONS: a source room on the left, a shield, and a duct through it with two bends."""
    x, y = ((np.arange(n) + 0.5) / n for n in shape)
    x, y = x[:, None], y[None, :]
    shield = (0.35 < x) & (x < 0.65) & (y < 1)
    duct = ((x < 0.54) & (abs(y - 0.35) < 0.07)) | ((abs(x - 0.5) < 0.04) & (abs(y - 0.5) < 0.22)) | (
        (x > 0.46) & (abs(y - 0.65) < 0.07))
    return np.where(shield & duct, 0, np.where(shield, 1, 2))


def ranks():
    """The communicator of the ranks started by mpiexec, and the size of their grid; None for a single task."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError):  # not installed, or no MPI
        return None, (1, 1)
    comm = MPI.COMM_WORLD
    return (comm, MPI.Compute_dims(comm.size, 2)) if comm.size > 1 else (None, (1, 1))


def mixed(bits):
    """Maps each 64-bit number to a pseudo-random one (splitmix64)."""
    bits = (bits ^ (bits >> 30)) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> 27)) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> 31)


def draw(particles, i):
    """The next random number in [0, 1) of each of the particles `i`."""
    key = mixed(particles["id"][i].astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15))
    bits = mixed(key + particles["draws"][i].astype(np.uint64))
    particles["draws"][i] += 1
    return (bits >> 11) * 2.0**-53


def born(step, n, shape):
    """The particles emitted by the source on the left in a step."""
    new = np.zeros(n, PARTICLE)
    new["id"] = step * n + np.arange(n)
    every = np.arange(n)
    new["x"] = (0.06 + 0.06 * draw(new, every)) * shape[0]
    new["y"] = (0.32 + 0.06 * draw(new, every)) * shape[1]
    turn(new, every)
    new["weight"] = 1
    return new


def turn(particles, i):
    """Give the particles `i` a random direction."""
    angle = 2 * np.pi * draw(particles, i)
    particles["u"][i], particles["v"][i] = np.cos(angle), np.sin(angle)


def fly(particles, left, material):
    """Move each particle for the time `left[i]`, with collisions on its way; return the remaining ones.

    All particles move as in the densest material; excess collisions are ignored (Woodcock tracking).
    """
    alive = np.ones(len(particles), bool)
    flying = np.arange(len(particles))
    while flying.size:
        way = -np.log(1 - draw(particles, flying)) / DENSEST
        collides = way < left[flying]
        way = np.minimum(way, left[flying])
        left[flying] -= way
        particles["x"][flying] += particles["u"][flying] * way
        particles["y"][flying] += particles["v"][flying] * way
        x, y = particles["x"][flying], particles["y"][flying]
        inside = (0 <= x) & (x < material.shape[0]) & (0 <= y) & (y < material.shape[1])
        alive[flying[~inside]] = False
        flying = flying[inside & collides]
        kind = material[cell_of(particles[flying])]
        real = draw(particles, flying) < COLLISIONS[kind] / DENSEST
        collide(particles, flying[real], SCATTERED[kind[real]])
        alive[flying[particles["weight"][flying] == 0]] = False
        flying = flying[alive[flying]]
    return particles[alive]


def collide(particles, i, scattered):
    """A part of the weight is absorbed, the rest is scattered. Of light particles half survive, with double weight."""
    turn(particles, i)
    weight = particles["weight"][i] * scattered
    light = weight < 0.1
    weight[light] *= 2 * (draw(particles, i[light]) < 0.5)
    particles["weight"][i] = np.round(weight * 2**30) / 2**30  # sums are exact, in any order


def cell_of(particles):
    """The indices of the particles' cells."""
    return particles["x"].astype(int), particles["y"].astype(int)


class Boxes:
    """The grid divided into a box per rank."""

    def __init__(self, shape, parts):
        self.edges = [np.linspace(0, n, part + 1).astype(int) for n, part in zip(shape, parts)]
        self.parts = parts

    def box(self, rank):
        """The slices of the box of a rank."""
        place = np.unravel_index(rank, self.parts)
        return tuple(slice(int(edge[i]), int(edge[i + 1])) for edge, i in zip(self.edges, place))

    def owners(self, particles):
        """The rank of the box that contains each particle."""
        place = [np.searchsorted(edge, i, "right") - 1 for edge, i in zip(self.edges, cell_of(particles))]
        return place[0] * self.parts[1] + place[1]


def exchanged(comm, particles, owners):
    """The particles that all ranks send to this one."""
    if comm is None:
        return particles
    particles = particles[np.argsort(owners, kind="stable")]
    to = np.bincount(owners, minlength=comm.size)
    of = np.empty_like(to)
    comm.Alltoall(to, of)
    mine = np.empty(of.sum(), PARTICLE)
    size = PARTICLE.itemsize
    comm.Alltoallv([particles.view("u1"), to * size], [mine.view("u1"), of * size])
    return mine


def by_cell(particles, f):
    """The particles in the order of this task's cells, and the number in each."""
    i, j = (index - box.start for index, box in zip(cell_of(particles), f.local))
    cell = i * f.local_shape[1] + j
    order = np.lexsort((particles["id"], cell))
    return particles[order], np.bincount(cell, minlength=np.prod(f.local_shape)).reshape(f.local_shape)


def total(comm, value):
    """The sum over all ranks."""
    return value if comm is None else comm.allreduce(value)


def run(path, shape, steps, n, dt):
    """Write `steps` steps of the transport of `n` new particles each."""
    comm, parts = ranks()
    rank = 0 if comm is None else comm.rank
    boxes, material = Boxes(shape, parts), materials(shape)
    particles = np.zeros(0, PARTICLE)
    with thalweg.vp.open(path, "w", shape=shape, comm=comm, box=boxes.box(rank)) as f:
        for step in range(steps):
            new = born(step, n, shape)
            new = new[boxes.owners(new) == rank]
            ages = dt * draw(new, np.arange(len(new)))
            left = np.concatenate([np.full(len(particles), dt), ages])
            particles = fly(np.concatenate([particles, new]), left, material)
            particles = exchanged(comm, particles, boxes.owners(particles))
            particles, counts = by_cell(particles, f)
            f.write(counts.astype(np.int32))
            f.write_ragged(particles, counts)
            f.flush()  # from here on this step survives the death of the program
            here = total(comm, len(particles)), total(comm, particles["weight"].sum())
            if rank == 0:
                print(f"step {step:3}: {here[0]:6} particles, weight {here[1]:.6f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Monte-Carlo transport through a shield; alone, or under mpiexec")
    parser.add_argument("path", help="the vpfile to write")
    parser.add_argument("--cells", type=int, nargs=2, default=(120, 80), metavar="N")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--particles", type=int, default=1000, help="that are born in each step")
    parser.add_argument("--dt", type=float, default=4, help="the length of a step; a particle flies over a cell in 1")
    options = parser.parse_args()
    run(options.path, tuple(options.cells), options.steps, options.particles, options.dt)
