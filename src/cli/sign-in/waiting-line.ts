import { type Io, say } from '../terminal/io.ts'

/** Says on standard error that somebody is waited for. */
export interface WaitingLine {
  /** On a terminal one line that is written anew each time, with the time left; elsewhere a line that is said once. */
  readonly show: (leftMs: number) => Promise<void>
  /** Takes the line off the terminal, before anything else is said. */
  readonly clear: () => Promise<void>
}

const startOfEmptyLine = '\r\u001b[K'

/** The line of one sign-in. */
export function createWaitingLine(io: Io): WaitingLine {
  let shown = false
  if (!io.stderr.isTTY) {
    return {
      show: async () => {
        if (!shown) await say(io, 'Waiting for sign-in\n')
        shown = true
      },
      clear: async () => {},
    }
  }
  return {
    show: async (leftMs) => {
      shown = true
      await say(io, `${startOfEmptyLine}Waiting for sign-in (${minutesAndSeconds(leftMs)} left)`)
    },
    clear: async () => {
      if (shown) await say(io, startOfEmptyLine)
      shown = false
    },
  }
}

function minutesAndSeconds(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
