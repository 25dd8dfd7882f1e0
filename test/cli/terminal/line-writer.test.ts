import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { createLineWriter } from '../../../src/cli/terminal/line-writer.ts'
import { runModule } from '../../helpers/process.ts'
import { slowRows } from '../../helpers/slow-rows.ts'

const dropped = (count: number) => `${count} dropped\n`

/** A stream that keeps its pieces and accepts the next one on demand. */
function reader({ isSlow = false } = {}) {
  const pieces: string[] = []
  let free = () => {}
  const stream = new Writable({
    decodeStrings: false,
    write(piece, _, done) {
      pieces.push(String(piece))
      if (isSlow) free = done
      else done()
    },
  })
  return { stream, pieces, read: () => free() }
}

test('lines that come together are written together, in their order', async () => {
  const { stream, pieces } = reader()
  const log = createLineWriter(stream, dropped)
  for (let index = 0; index < 20; index += 1) log.write(`${index}\n`)
  expect(pieces).toEqual([])
  await log.close()
  expect(pieces).toEqual([Array.from({ length: 20 }, (_, index) => `${index}\n`).join('')])
})

test('a line that is alone is written by itself, without waiting for another or for the end', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const stream = new Writable({ decodeStrings: false, write: (piece) => resolve(piece) })
  createLineWriter(stream, dropped, { everyMs: 1 }).write('one\n')
  expect(await promise).toBe('one\n')
})

test('a writer that is never closed leaves no listeners at the process once all is written', async () => {
  const { stream } = reader()
  const listeners = () => process.listenerCount('exit')
  const before = listeners()
  const log = createLineWriter(stream, dropped)
  log.write('')
  expect(listeners()).toBe(before)
  log.write('one\n')
  log.write('two\n')
  expect(listeners()).toBe(before + 1)
  log.write(`${'x'.repeat(65_536)}\n`)
  await new Promise(setImmediate)
  expect(listeners()).toBe(before)
})

test('while a reader is slow, what waits is bounded: lines beyond it are dropped, and counted in their place', async () => {
  const { stream, pieces, read } = reader({ isSlow: true })
  const log = createLineWriter(stream, dropped, { everyMs: 0, maxWaiting: 70_000, closeTimeoutMs: 60_000 })
  const long = `${'x'.repeat(65_536)}\n`
  log.write(long)
  for (let index = 0; index < 10_000; index += 1) log.write(`line ${index}\n`)
  expect(pieces).toEqual([long])
  expect(stream.writableLength).toBe(long.length)
  const closed = log.close()
  read()
  await new Promise(setImmediate)
  log.write('after\n')
  read()
  await new Promise(setImmediate)
  read()
  await closed
  const [, kept = '', after] = pieces
  const lines = kept.trimEnd().split('\n')
  const count = lines.length - 1
  expect(lines.slice(0, -1)).toEqual(Array.from({ length: count }, (_, index) => `line ${index}`))
  expect(lines.at(-1)).toBe(`${10_000 - count} dropped`)
  expect(after).toBe('after\n')
})

test('a reader that never reads does not hold up the end', async () => {
  const { stream } = reader({ isSlow: true })
  const log = createLineWriter(stream, dropped, { closeTimeoutMs: 1 })
  log.write('one\n')
  await log.close()
  expect(stream.writableLength).toBe('one\n'.length)
})

test.for(slowRows(['throw new Error("crash")', 'process.exit(3)']))(
  'what waits is written before %s ends',
  async (end) => {
    const module = import.meta.resolve('../../../src/cli/terminal/line-writer.ts')
    const program = `
    import { createLineWriter } from ${JSON.stringify(module)}
    createLineWriter(process.stderr, String).write('the last line\\n')
    setImmediate(() => { ${end} })`
    expect((await runModule(program)).stderr).toContain('the last line\n')
  },
)
