import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { processIo } from '../../../src/cli/terminal/io.ts'
import { listen } from '../../helpers/listen.ts'
import { bin, run } from '../../helpers/process.ts'

test.for(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '%s that comes twice at once is one signal, and a later one ends the process',
  (name, { onTestFinished }) => {
    vi.useFakeTimers()
    const others = process.listeners(name)
    process.removeAllListeners(name)
    onTestFinished(() => {
      vi.useRealTimers()
      for (const each of others) process.on(name, each)
    })
    const { signal } = processIo()
    process.emit(name, name)
    expect(signal.reason).toMatchObject({ name: 'InterruptedError' })
    process.emit(name, name)
    vi.advanceTimersByTime(99)
    expect(process.listenerCount(name)).toBe(1)
    // Without a listener the signal ends the process.
    vi.advanceTimersByTime(1)
    expect(process.listenerCount(name)).toBe(0)
  },
)

/** Stands in for the system's opener: sends its arguments to the URL in TOLD. */
const opener = `#!${process.execPath}
fetch(process.env.TOLD, { method: 'POST', body: JSON.stringify(process.argv.slice(2)) })
`

test.runIf(process.platform === 'linux')(
  'a browser gets the address in one piece, whatever a shell would make of it',
  { tags: ['slow'] },
  async () => {
    const home = mkdtempSync(join(tmpdir(), 'learnctl-open-'))
    writeFileSync(join(home, 'xdg-open'), opener, { mode: 0o755 })
    const called = Promise.withResolvers<string>()
    const server = createServer(async (request, response) => {
      const pieces = await request.toArray()
      response.end()
      called.resolve(Buffer.concat(pieces).toString())
    })
    const told = await listen(server)
    try {
      const env = { HOME: home, PATH: home, TOLD: told.url }
      const url = "http://127.0.0.1:9/$(id)&calc;'x'|y"
      const words = [bin, 'open', '--browser', '--url', url]
      expect(await run(process.execPath, words, { cwd: home, env })).toMatchObject({ code: 0, stderr: '' })
      expect(JSON.parse(await called.promise)).toEqual([`${url}/dashboard`])
    } finally {
      await told.close()
      rmSync(home, { recursive: true, force: true })
    }
  },
)

test('only web addresses are opened: others might start a program', async () => {
  const { openBrowser } = processIo()
  for (const address of ['file:///etc/passwd', 'javascript:alert(1)', 'ms-settings:']) {
    await expect(openBrowser(address)).rejects.toThrow(`${address} is not a web page`)
  }
})
