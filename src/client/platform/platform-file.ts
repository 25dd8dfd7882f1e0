/** Where a field of ours stands in a record of theirs (a JSON Pointer, RFC 6901), and how it is written there. */
export type Place =
  | string
  | {
      readonly at: string
      /** A choice: their words, and ours for each. */
      readonly values?: Readonly<Record<string, string>>
      /** A percentage: the number that they write for 100 %. */
      readonly of?: number
      /** A time: the unit since 1970 (default ISO 8601). */
      readonly time?: 'iso' | 'unix-seconds' | 'unix-milliseconds'
      /** A time without a zone: the IANA zone that it is in (default that of the file). */
      readonly zone?: string
    }

/** How a list names its next page. `none`: each list comes whole. */
export type NextPage =
  | 'none'
  | { readonly link: true }
  | { readonly url: string }
  | { readonly cursor: string; readonly parameter: string }
  | { readonly page: string; readonly first?: number; readonly last?: string }
  | { readonly offset: string }

/** How lists are wrapped and paged. */
export interface Lists {
  /** JSON Pointer to the array of rows; empty for a bare array. */
  readonly items?: string
  readonly next?: NextPage
  /** JSON Pointer to the number of rows of the whole list. */
  readonly total?: string
  /** Parameter for the number of rows of a page, and its maximum. */
  readonly size?: { readonly parameter: string; readonly maximum: number }
}

/** A refusal inside a response with a status of success. */
export interface Refusals {
  /** The value that makes a response a refusal; `not`: any other value does. */
  readonly when: { readonly at: string; readonly is?: unknown; readonly not?: unknown }
  readonly code?: string
  readonly message?: string
  /** HTTP status by code (default 400). */
  readonly status?: Readonly<Record<string, number>>
}

/** What shows that a write was done: the record (its id, or a value that was sent), or the status alone. */
export type Shown = 'record' | 'nothing'

/** How one operation differs. */
export interface DescribedOperation extends Lists {
  readonly path?: string
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** JSON Pointer to the record in the response. */
  readonly record?: string
  readonly shows?: Shown
  /** Names of their query parameters by ours. */
  readonly parameters?: Readonly<Record<string, string>>
  /** Encoding of their CSV, if they do not declare it. */
  readonly encoding?: string
  /** Parameters that are always sent. */
  readonly query?: Readonly<Record<string, string>>
}

/** Where a platform differs from the published form, as data; docs/platforms.md explains each member. */
export interface PlatformFile {
  readonly learnctlPlatform: 1
  readonly name: string
  /** IANA zone of times and days without a zone (default UTC). */
  readonly timeZone?: string
  /** True if a POST with the same Idempotency-Key is answered once. */
  readonly idempotencyKey?: boolean
  /** Where the credential is sent (default `Authorization: Bearer …`). */
  readonly auth?: { readonly header: string; readonly scheme?: string }
  /** Maximum number of requests that begin within a number of seconds. */
  readonly rate?: { readonly requests: number; readonly seconds: number }
  readonly lists?: Lists
  readonly refused?: Refusals
  readonly writes?: { readonly shows: Shown }
  /** Operations by their id, such as `courses.list`. */
  readonly operations?: Readonly<Record<string, DescribedOperation | 'not offered'>>
  /** Fields of each kind of record: ours, dotted, and where they stand in theirs. */
  readonly records?: Readonly<Record<string, Readonly<Record<string, Place>>>>
}
