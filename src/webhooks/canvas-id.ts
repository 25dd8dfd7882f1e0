import type { Candidate } from './event.ts'

/** A global id of Canvas is that of its shard times this, and the local id. */
const shardSize = 10n ** 13n

/**
 * An id of Canvas in both its forms, as it came first: events have global ones (shard · 10^13 + local) or local ones,
 * and addresses of pages local ones. A local id belongs to the shard of the root account; a global one of another shard
 * has no local form there.
 */
export function canvasIds(
  id: string | null,
  rootAccountId: string | null,
): (readonly [Candidate['by'], string])[] {
  if (id === null) return []
  const home = shardOf(rootAccountId)
  const number = /^\d{1,19}$/.test(id) ? BigInt(id) : null
  const other = number === null ? null : otherForm(number, home)
  return other === null
    ? [['key', id]]
    : [
        ['key', id],
        ['key', String(other)],
      ]
}

/** The id that stands for both forms: the local one, which outlives a move to another shard. */
export function canonicalCanvasId(id: string, rootAccountId: string | null): string {
  const forms = canvasIds(id, rootAccountId).map(([, form]) => form)
  return forms.reduce((shortest, form) => (form.length < shortest.length ? form : shortest))
}

function otherForm(id: bigint, home: bigint | null): bigint | null {
  const shard = id / shardSize
  if (shard > 0n) return home === null || shard === home ? id % shardSize : null
  return home === null ? null : home * shardSize + id
}

function shardOf(rootAccountId: string | null): bigint | null {
  if (rootAccountId === null || !/^\d{1,19}$/.test(rootAccountId)) return null
  const shard = BigInt(rootAccountId) / shardSize
  return shard > 0n ? shard : null
}
