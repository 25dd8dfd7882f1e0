import { expect } from 'vitest'
import type { Caller } from './test-academy.ts'

/** Reads a list page by page; returns its items. */
export async function readPages<Item>(
  caller: Pick<Caller, 'get'>,
  path: string,
  limit = 100,
  onPage: (body: Record<string, unknown>) => void = () => {},
): Promise<Item[]> {
  const items: Item[] = []
  const first = `${path}${path.includes('?') ? '&' : '?'}limit=${limit}`
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, body, text } = await caller.get(`${first}${cursor && `&cursor=${cursor}`}`)
    expect(status, text).toBe(200)
    expect(body.data.length).toBeLessThanOrEqual(limit)
    items.push(...body.data)
    onPage(body)
    cursor = body.nextCursor
  }
  return items
}
