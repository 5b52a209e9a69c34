"""Reads what transport.py wrote, on any number of ranks: totals of each step, and a picture of all steps."""

import argparse
import itertools

import numpy as np
import thalweg
from transport import PARTICLE, materials, ranks, total


def steps_of(f):
    """The particles of each step in this task's cells, and the number in each cell. Collective."""
    while True:
        try:
            counts = f.read(np.int32)
            particles, _ = f.read_ragged(PARTICLE, counts)
        except EOFError:  # of any stream: raised on all tasks
            return
        yield particles, counts


def weights(particles, counts):
    """Total weight of the particles in each cell."""
    cell = np.repeat(np.arange(counts.size), counts.ravel())
    return np.bincount(cell, particles["weight"], counts.size).reshape(counts.shape)


def rightmost(particles, n):
    """The numbers of the n rightmost particles, and their positions."""
    order = np.argsort(particles["x"])[-n:] if n > 0 else []
    return {int(p["id"]): float(p["x"]) for p in particles[order]}


def look(f, comm, n_tracks):
    """Print the totals of each step. Return the weights of all steps summed over this task's cells, and the numbers of
    the particles, of all tasks, that came farthest to the right."""
    fluence, reached = np.zeros(f.local_shape), {}
    for step, (particles, counts) in enumerate(steps_of(f)):
        fluence += weights(particles, counts)
        for i, x in rightmost(particles, n_tracks).items():
            reached[i] = max(x, reached.get(i, 0))
        here = total(comm, len(particles)), total(comm, particles["weight"].sum())
        if comm is None or comm.rank == 0:
            print(f"step {step:3}: {here[0]:6} particles, weight {here[1]:.6f}")
    best = {}
    for part in [reached] if comm is None else comm.allgather(reached):
        best.update({i: max(x, best.get(i, 0)) for i, x in part.items()})
    return fluence, sorted(best, key=best.get)[-n_tracks:] if n_tracks > 0 else []


def ways(f, chosen):
    """Positions of the chosen particles in each step, while they were in this task's cells."""
    f.seek(0)
    seen = []
    for step, (particles, _) in enumerate(steps_of(f)):
        particles = particles[np.isin(particles["id"], chosen)]
        seen += [(int(p["id"]), step, float(p["x"]), float(p["y"])) for p in particles]
    return seen


def read(path, n_tracks):
    """Print the totals of each step. Return on rank 0, for `n_tracks` above 0, the arguments of draw(); otherwise None."""
    comm, _ = ranks()
    with thalweg.vp.open(path, comm=comm) as f:
        fluence, chosen = look(f, comm, n_tracks)
        if not chosen:
            return None
        mine = f.local, fluence, ways(f, chosen)
        parts = [mine] if comm is None else comm.gather(mine)
        if parts is None:
            return None
        whole, tracks = np.zeros(f.shape), {i: [] for i in chosen}
        for local, part, _ in parts:
            whole[local] = part
        for i, _, x, y in sorted(place for *_, seen in parts for place in seen):
            tracks[i].append((x, y))
        return whole, [np.array(track) for track in tracks.values()]


def draw(fluence, tracks, path):
    """Write a picture: density of particles, the shield, and some tracks."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import colors, pyplot

    nx, ny = fluence.shape
    figure, axes = pyplot.subplots(figsize=(7.2, 4.4), layout="constrained")
    norm = colors.LogNorm(fluence.max() * 1e-4, fluence.max())
    image = axes.imshow(np.where(fluence > 0, fluence, np.nan).T, origin="lower", extent=(0, nx, 0, ny), norm=norm,
                        cmap="magma", interpolation="nearest")
    axes.set_facecolor("black")
    axes.contour(np.arange(nx) + 0.5, np.arange(ny) + 0.5, (materials((nx, ny)) == 1).T, levels=[0.5], colors="white",
                 linewidths=0.8)
    for track, colour in zip(tracks, itertools.cycle(["cyan", "lime", "white", "yellow", "deepskyblue", "orange"])):
        axes.plot(*track.T, color=colour, linewidth=0.7, marker=".", markersize=2)
    axes.set(xlim=(0, nx), ylim=(0, ny), xlabel="x in cells", ylabel="y in cells")
    figure.colorbar(image, label="weight in the cell, summed over all steps")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Read what transport.py wrote; alone, or under mpiexec")
    parser.add_argument("path", help="the vpfile to read")
    parser.add_argument("--picture", help="a PNG to write; takes matplotlib")
    parser.add_argument("--tracks", type=int, default=6, help="particles whose ways are drawn, at least 1")
    options = parser.parse_args()
    found = read(options.path, 0 if options.picture is None else max(1, options.tracks))
    if found is not None:
        draw(*found, options.picture)
