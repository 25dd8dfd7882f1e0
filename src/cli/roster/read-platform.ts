import { platformName } from '../../config/target.ts'
import type { Context } from '../command/context.ts'
import { type Declared, type Entry, loadPart, type Part } from '../records/entries.ts'
import { shownIn } from '../records/finder.ts'
import { keyIn } from '../records/identity.ts'
import { openWriter } from '../records/write.ts'
import { requireLearnctl } from '../session/learnctl-server.ts'
import type { Session } from '../session/session.ts'

/** In the form of files, without deleted users and their records. */
export async function readPlatform(
  { io }: Pick<Context, 'io'>,
  session: Session,
  wanted: readonly Part[],
): Promise<Declared> {
  const reader = await openWriter({ session, io })
  await requireLearnctl(session, reader.caller, 'roster diff', io.signal)
  const place = { file: platformName(session.target()), line: 0 }
  const declared = new Map<Part, Entry[]>()
  const deleted = new Set<unknown>()
  for (const part of wanted) {
    const dataset = await loadPart(part)
    const entries: Entry[] = []
    // A platform may list a record twice.
    const seen = new Set<unknown>()
    for await (const shown of shownIn(reader, dataset)) {
      const { id, status, userId, learnerId } = shown
      if (part === 'users' && status === 'deleted') deleted.add(id)
      const isGone = status === 'deleted' || deleted.has(userId) || deleted.has(learnerId)
      if (isGone || seen.has(id)) continue
      if (id !== undefined) seen.add(id)
      const record = await dataset.toRecord(shown, reader.names)
      entries.push({ dataset: part, key: keyIn(part, record) ?? String(id), record, place })
    }
    declared.set(part, entries)
  }
  return declared
}
