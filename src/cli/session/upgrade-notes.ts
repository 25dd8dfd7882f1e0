import { statSync } from 'node:fs'
import { type Io, note } from '../terminal/io.ts'

const mebibyte = 1024 * 1024
/** Below it an academy is up to date before anybody would have read that it is being brought there. */
const noticedMiB = 64

/**
 * Says that the academy in a file is being brought up to date, where that takes a while, and how far it is. Measured: 43 s
 * of processor time a gigabyte, from 1 million learners and 5 million enrolments.
 */
export function upgradeNotes(
  io: Pick<Io, 'stderr'>,
  path: string,
  mebibytes = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) / mebibyte,
) {
  return async (step: number, steps: number): Promise<void> => {
    if (mebibytes < noticedMiB) return
    if (step === 1) {
      const minutes = Math.max(1, Math.ceil(mebibytes / 1024))
      const time = minutes === 1 ? 'a minute' : `${minutes} minutes`
      await note(
        io,
        `Upgrading ${path} for this version of learnctl; this takes about ${time}, and can be interrupted`,
      )
    }
    await note(io, `Upgrade: step ${step} of ${steps}`)
  }
}
