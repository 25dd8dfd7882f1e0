import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { createLineWriter } from '../../../src/cli/local-server/start-report.ts'
import { runModule } from '../../helpers/process.ts'
import { slowRows } from '../../helpers/slow-rows.ts'

function reader() {
  const pieces: string[] = []
  const stream = new Writable({
    decodeStrings: false,
    write(piece, _, done) {
      pieces.push(String(piece))
      done()
    },
  })
  return { stream, pieces }
}

test('lines that come together are written together, in their order', () => {
  const { stream, pieces } = reader()
  const log = createLineWriter(stream)
  for (let index = 0; index < 20; index += 1) log.write(`${index}\n`)
  expect(pieces).toEqual([])
  log.close()
  expect(pieces).toEqual([Array.from({ length: 20 }, (_, index) => `${index}\n`).join('')])
})

test('a line that is alone is written by itself, without waiting for another or for the end', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const stream = new Writable({ decodeStrings: false, write: (piece) => resolve(piece) })
  createLineWriter(stream).write('one\n')
  expect(await promise).toBe('one\n')
})

test('a writer that is never closed leaves no listeners at the process once all is written', async () => {
  const { stream } = reader()
  const listeners = () => process.listenerCount('exit')
  const before = listeners()
  const log = createLineWriter(stream)
  log.write('')
  expect(listeners()).toBe(before)
  log.write('one\n')
  log.write('two\n')
  expect(listeners()).toBe(before + 1)
  log.write(`${'x'.repeat(65_536)}\n`)
  await new Promise(setImmediate)
  expect(listeners()).toBe(before)
})

test('lines are dropped while their reader is a megabyte behind', () => {
  const pieces: string[] = []
  const stream = new Writable({ decodeStrings: false, write: (piece) => void pieces.push(piece) })
  const log = createLineWriter(stream)
  const line = `${'x'.repeat(100_000)}\n`
  for (let index = 0; index < 30; index += 1) log.write(line)
  expect(stream.writableLength).toBeLessThan(1_200_000)
  expect(pieces).toEqual([line])
})

test.for(slowRows(['throw new Error("crash")', 'process.exit(3)']))(
  'what waits is written before %s ends',
  async (end) => {
    const module = import.meta.resolve('../../../src/cli/local-server/start-report.ts')
    const program = `
    import { createLineWriter } from ${JSON.stringify(module)}
    createLineWriter(process.stderr).write('the last line\\n')
    setImmediate(() => { ${end} })`
    expect((await runModule(program)).stderr).toContain('the last line\n')
  },
)
