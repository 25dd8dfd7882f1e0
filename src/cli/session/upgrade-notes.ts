import { statSync } from 'node:fs'
import type { UpgradeWatch } from '../../server/academy/upgrade-in-process.ts'
import { type Io, note } from '../terminal/io.ts'

const mebibyte = 1024 * 1024

/**
 * Notes that a large academy is being upgraded, how long that takes, and its progress every ten seconds;
 * Ctrl-C aborts it. Measured: 43 s of processor time per gigabyte, with 1 million learners and 5 million
 * enrolments.
 */
export function upgradeNotes(
  io: Pick<Io, 'stderr' | 'signal'>,
  path: string,
  mebibytes = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) / mebibyte,
): UpgradeWatch {
  let reported = 0
  return {
    signal: io.signal,
    async onProgress({ step, steps, elapsedMs }) {
      reported += 1
      if (reported === 1) {
        const minutes = Math.max(1, Math.ceil(mebibytes / 1024))
        const time = minutes === 1 ? 'a minute' : `${minutes} minutes`
        await note(
          io,
          `Upgrading ${path} for this version of learnctl; this takes about ${time}, and can be interrupted`,
        )
      }
      await note(io, `Upgrade: step ${step} of ${steps} (${spanOf(elapsedMs)})`)
    },
  }
}

function spanOf(ms: number): string {
  const seconds = Math.round(ms / 1000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
