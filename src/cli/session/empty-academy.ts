import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Io, note } from '../terminal/io.ts'

/**
 * Opens an empty academy in place of a missing one, for a plan of what would be made there; closing it deletes it.
 *
 * @param open creates an academy in a file
 */
export async function openEmptyAcademy<Academy extends { readonly close: () => Promise<void> }>(
  io: Io,
  database: string,
  open: (path: string) => Promise<Academy>,
): Promise<Academy> {
  const folder = await mkdtemp(join(tmpdir(), 'learnctl-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const academy = await open(join(folder, 'academy.db'))
    await note(io, `Database not found: ${database}; the plan is for an empty academy`)
    const close = async () => {
      await academy.close()
      await remove()
    }
    return { ...academy, close }
  } catch (error) {
    await remove()
    throw error
  }
}
