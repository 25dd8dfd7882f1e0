import { expect, test, vi } from 'vitest'
import { processIo } from '../../../src/cli/terminal/io.ts'

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
