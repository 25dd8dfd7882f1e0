import { type Io, ignoreStreamErrors, note, streamOf } from './io.ts'

/** Shows progress on standard error: a bar on a terminal, else a line every 10 s. */
export interface ProgressLine {
  update(done: number): Promise<void>
  stop(): void
}

const everyMs = 10_000
const firstAfterMs = 500

/** `what` is a plural noun such as `rows`; `total` is null if it is unknown. */
export async function createProgressLine(
  io: Pick<Io, 'stderr' | 'now'>,
  what: string,
  total: number | null,
): Promise<ProgressLine> {
  const startedMs = io.now()
  let lastWrittenMs = startedMs
  const rate = (done: number) => Math.round((done / Math.max(1, io.now() - startedMs)) * 1000)
  if (!io.stderr.isTTY) {
    return {
      async update(done) {
        if (io.now() - lastWrittenMs < everyMs) return
        lastWrittenMs = io.now()
        const of = total ? ` of ${total}` : ''
        const percent = total ? ` (${Math.floor((done / total) * 100)}%)` : ''
        await note(io, `${done}${of} ${what}${percent}, ${rate(done)} ${what}/s`)
      },
      stop: () => {},
    }
  }
  const stream = streamOf(io.stderr)
  ignoreStreamErrors(stream)
  const { SingleBar } = await import('cli-progress')
  const known = `{bar} {percentage}% · {value} of {total} ${what} · {speed} ${what}/s · {eta_formatted} left`
  const bar = new SingleBar({
    format: total === null ? `{value} ${what} · {speed} ${what}/s` : known,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 20,
    fps: 10,
    stream: stream as NodeJS.WritableStream,
    clearOnComplete: true,
    hideCursor: true,
  })
  let started = false
  return {
    async update(done) {
      // Work that ends soon needs no bar.
      if (!started && io.now() - startedMs < firstAfterMs) return
      if (!started) bar.start(total ?? 0, 0, { speed: 0 })
      started = true
      bar.update(done, { speed: rate(done) })
    },
    stop: () => {
      if (started) bar.stop()
    },
  }
}
