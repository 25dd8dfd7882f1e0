import type { Caller } from '../../client/caller.ts'
import { ApiError, NotOfferedError, ProtocolError } from '../../client/errors.ts'
import type { JsonObject } from '../../codec/json-text.ts'
import { parseReference } from '../../codec/reference.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { loadDataset } from '../dataset/load-dataset.ts'
import { byPages, type Finder } from '../records/finder.ts'

/**
 * Returns a function that replaces `ext:` and `email:` references in a record by the ids of a remote platform, which
 * may otherwise store them as text. Each list is read once; a reference that is not found, or cannot be listed, is
 * sent as it is.
 */
export function referenceSettler(
  caller: Caller,
  { references }: Dataset,
  signal: AbortSignal,
): (record: JsonObject) => Promise<JsonObject> {
  const finders = new Map<string, Promise<Finder | null>>()

  async function open(to: 'courses' | 'users'): Promise<Finder | null> {
    const finder = byPages(caller, await loadDataset(to), signal, true)
    try {
      await finder.prepare([])
      return finder
    } catch (error) {
      const isRefusal = error instanceof ApiError && [400, 403, 404, 422].includes(error.status)
      if (isRefusal || error instanceof NotOfferedError || error instanceof ProtocolError) return null
      throw error
    }
  }

  async function idOf(to: 'courses' | 'users', text: string): Promise<string | null> {
    const { by, value } = parseReference(text)
    if (by === 'id') return null
    const finder = finders.get(to) ?? open(to)
    finders.set(to, finder)
    const match = await (await finder)?.find({ [by === 'ext' ? 'externalId' : 'email']: value })
    const shown = match?.shown
    return shown ? String(shown['id']) : null
  }

  return async (record) => {
    let settled = record
    for (const [field, to] of Object.entries(references)) {
      const value = record[field]
      const id = typeof value === 'string' ? await idOf(to, value) : null
      if (id !== null) settled = { ...settled, [field]: id }
    }
    return settled
  }
}
