import type { HttpHeaders } from '../../contract/http.ts'
import { ProblemError } from '../problem-error.ts'

interface EntityTag {
  readonly weak: boolean
  readonly opaque: string
}

/** Entity tag of the stored version; null if nothing is stored. */
type Current = string | null

/** RFC 9110 §13.1. */
export class Preconditions {
  readonly #ifMatch: Condition | null
  readonly #ifNoneMatch: Condition | null
  #checked: number | null = null

  /** Throws 400 if a header is not a list of entity tags. */
  constructor(headers: HttpHeaders) {
    this.#ifMatch = conditionOf('If-Match', headers['if-match'])
    this.#ifNoneMatch = conditionOf('If-None-Match', headers['if-none-match'])
  }

  /** Checks a version before a write, 0 for a new record: throws 412 if a condition is not met. */
  requireVersion(version: number): void {
    this.#checked = version
    if (!this.#ifMatch && !this.#ifNoneMatch) return
    const tag = version > 0 ? `"${version}"` : null
    const is = tag ? `The current version is ${version}` : 'The resource does not exist'
    const more = tag ? { headers: { etag: tag }, members: { version } } : {}
    if (this.#ifMatch && !hasStrong(this.#ifMatch, tag)) {
      const why = this.#ifMatch.tags.some(({ weak }) => weak) ? '; weak tags (W/) never match' : ''
      const detail = `${is}, but If-Match requires ${this.#ifMatch.text}${why}.`
      throw new ProblemError('precondition_failed', detail, more)
    }
    if (this.#ifNoneMatch && hasWeak(this.#ifNoneMatch, tag)) {
      const detail = `${is}, but If-None-Match excludes ${this.#ifNoneMatch.text}.`
      throw new ProblemError('precondition_failed', detail, more)
    }
  }

  /** 0 for a new record; null if no version was checked. */
  get versionBefore(): number | null {
    return this.#checked
  }

  /** Throws 412 after a write that checked no version, although the client required one. */
  requireChecked(): void {
    const asked = this.#ifMatch?.any === false ? this.#ifMatch : null
    if (!asked || this.#checked !== null) return
    const detail = `If-Match requires ${asked.text}, but this resource has no version.`
    throw new ProblemError('precondition_failed', detail)
  }

  /** True if a read can be answered with 304. Throws 412 if the tag differs from the required one. */
  isKnown(tag: Current): boolean {
    if (this.#ifMatch && !this.#ifMatch.any && !hasStrong(this.#ifMatch, tag)) {
      const is = tag === null ? 'This response has no entity tag' : `The current entity tag is ${tag}`
      throw new ProblemError('precondition_failed', `${is}, but If-Match requires ${this.#ifMatch.text}.`, {
        headers: tag === null ? {} : { etag: tag },
      })
    }
    return tag !== null && this.#ifNoneMatch !== null && hasWeak(this.#ifNoneMatch, tag)
  }
}

export const unconditional = new Preconditions({})

interface Condition {
  readonly text: string
  readonly any: boolean
  readonly tags: readonly EntityTag[]
}

function conditionOf(name: string, header: string | undefined): Condition | null {
  if (header === undefined) return null
  const text = header.trim()
  if (text === '*') return { text, any: true, tags: [] }
  const tags: EntityTag[] = []
  // Tags may contain commas, and lists may have empty elements (RFC 9110 §8.8.3, §5.6.1).
  for (const [, weak, opaque, foreign] of text.matchAll(/(W\/)?"([!#-~\x80-\xff]*)"|[\t ,]+|(.)/gs)) {
    if (foreign !== undefined) throw malformed(name)
    if (opaque !== undefined) tags.push({ weak: weak !== undefined, opaque })
  }
  if (tags.length === 0) throw malformed(name)
  return { text, any: false, tags }
}

function malformed(parameter: string): ProblemError {
  const detail = 'must be entity tags in double quotes, such as "3", or *'
  return new ProblemError('invalid_parameter', `The header ${parameter} ${detail}.`, {
    errors: [{ parameter, code: 'invalid_parameter', detail }],
  })
}

/** Strong comparison (RFC 9110 §8.8.3.2). All our tags are strong. */
function hasStrong({ any, tags }: Condition, tag: Current): boolean {
  return tag !== null && (any || tags.some(({ weak, opaque }) => !weak && `"${opaque}"` === tag))
}

/** Weak comparison (RFC 9110 §8.8.3.2). */
function hasWeak({ any, tags }: Condition, tag: Current): boolean {
  return tag !== null && (any || tags.some(({ opaque }) => `"${opaque}"` === tag))
}
