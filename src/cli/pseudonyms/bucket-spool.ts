import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Entries in memory before they are written to files. */
const maxEntries = 20_000
const bucketCount = 256

/** An entry with the key that it is sorted by: hexadecimal digits or Base32. */
interface Entry {
  readonly key: string
  readonly text: string
}

/**
 * Sorts any number of entries by key in bounded memory; entries with equal keys keep their order. Entries beyond a number are
 * in files in a directory that only the user can read; a text has no line breaks.
 */
export class BucketSpool {
  #entries: Entry[] = []
  #files: number[] | null = null
  #directory: string | null = null

  add(key: string, text: string): void {
    this.#entries.push({ key, text })
    if (this.#entries.length >= maxEntries) this.#write()
  }

  /** Yields all entries in the order of their keys, a bucket at a time. Call `remove` at the end. */
  *sorted(): Generator<readonly Entry[]> {
    if (this.#files === null) {
      yield inOrder(this.#entries)
      return
    }
    this.#write()
    for (let bucket = 0; bucket < bucketCount; bucket += 1) {
      const text = readFileSync(this.#pathOf(bucket), 'utf8')
      const entries = text.split('\n').flatMap((line) => {
        const end = line.indexOf('\t')
        return end < 0 ? [] : [{ key: line.slice(0, end), text: line.slice(end + 1) }]
      })
      if (entries.length > 0) yield inOrder(entries)
    }
  }

  remove(): void {
    for (const file of this.#files ?? []) closeSync(file)
    if (this.#directory !== null) rmSync(this.#directory, { recursive: true, force: true })
    this.#files = null
    this.#directory = null
    this.#entries = []
  }

  #write(): void {
    this.#directory ??= mkdtempSync(join(tmpdir(), `learnctl-${process.pid}-`))
    this.#files ??= Array.from({ length: bucketCount }, (_, bucket) =>
      openSync(this.#pathOf(bucket), 'wx', 0o600),
    )
    const texts = new Map<number, string>()
    for (const { key, text } of this.#entries) {
      const bucket = bucketOf(key)
      texts.set(bucket, `${texts.get(bucket) ?? ''}${key}\t${text}\n`)
    }
    for (const [bucket, text] of texts) writeSync(this.#files[bucket] ?? -1, text)
    this.#entries = []
  }

  #pathOf(bucket: number): string {
    return join(this.#directory ?? '', String(bucket))
  }
}

function inOrder(entries: readonly Entry[]): Entry[] {
  return entries.toSorted((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0))
}

/** Returns the bucket of a key by its first two characters, so that buckets are in the order of keys. */
function bucketOf(key: string): number {
  const rank = (index: number) => {
    const at = order.indexOf(key.charAt(index))
    return at < 0 ? 0 : at
  }
  return Math.floor(((rank(0) * order.length + rank(1)) * bucketCount) / order.length ** 2)
}

/** Digits of keys in the order of their characters. */
const order = '234567abcdefghijklmnopqrstuvwxyz'
