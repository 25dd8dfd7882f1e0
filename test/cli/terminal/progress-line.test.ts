import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import type { OutputStream } from '../../../src/cli/terminal/io.ts'
import { createProgressLine } from '../../../src/cli/terminal/progress-line.ts'

test('a terminal that closes under a progress bar is no fault of the work', async () => {
  const closed = Object.assign(new Error('i/o error'), { code: 'EIO' })
  let written = 0
  const stderr = new Writable({
    write: (_chunk, _encoding, done) => {
      written += 1
      done(closed)
    },
  })
  let now = 0
  const line = await createProgressLine(
    // The bar only needs a terminal with a known width.
    { stderr: Object.assign(stderr, { isTTY: true, columns: 80 }) as OutputStream, now: () => now },
    'rows',
    100,
  )
  now = 1000
  await line.update(50)
  line.stop()
  expect(written).toBeGreaterThan(0)
  expect(stderr.errored).toBe(closed)
})
