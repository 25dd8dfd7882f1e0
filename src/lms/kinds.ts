import type { LmsKind } from '../contract/constants.ts'

/** How a system proves that it sent a delivery. */
export type Proof =
  /** The body is a JWT (RFC 7519) in compact form, quoted or not, signed with a key of the sender. */
  | { readonly by: 'jwt'; readonly algorithm: 'RS256' }
  /** A member of the body contains the secret. */
  | { readonly by: 'member'; readonly member: string }
  /** A query parameter, or the password of the URL's Basic credentials (RFC 7617), is the secret. */
  | { readonly by: 'address'; readonly parameter: string }
  /** A header contains an HMAC of the body, keyed with the secret. */
  | { readonly by: 'hmac'; readonly header: string; readonly hash: 'sha256'; readonly encoding: 'hex' }
  /** The headers of Standard Webhooks 1.0.0. */
  | { readonly by: 'standard' }

/**
 * Path of a payload's time, and its form: RFC 3339, the same without a zone in UTC, or seconds since 1970.
 */
export interface TimeSource {
  readonly path: string
  readonly form: 'instant' | 'naive' | 'seconds'
}

/** Properties of an external system's deliveries. Each system may also sign with Standard Webhooks. */
export interface Kind {
  /** Name of the system. */
  readonly title: string
  readonly proof: Proof
  /** Path of the delivery's id in the payload; null if deliveries are identified by their digest. */
  readonly id: string | null
  readonly time: TimeSource
  /** Media types of the body, without parameters. */
  readonly mediaTypes: readonly string[]
}

/** The properties of each external system; a correction is one line here. */
export const kinds: Readonly<Record<LmsKind, Kind>> = {
  canvas: {
    title: 'Canvas',
    proof: { by: 'jwt', algorithm: 'RS256' },
    id: null,
    time: { path: 'metadata.event_time', form: 'instant' },
    mediaTypes: ['application/json', 'application/jwt', 'text/plain'],
  },
  moodle: {
    title: 'Moodle',
    proof: { by: 'member', member: 'token' },
    id: null,
    time: { path: 'timecreated', form: 'seconds' },
    mediaTypes: ['application/json'],
  },
  openedx: {
    title: 'Open edX',
    proof: { by: 'address', parameter: 'token' },
    id: 'event_metadata.id',
    time: { path: 'event_metadata.time', form: 'naive' },
    mediaTypes: ['application/json'],
  },
  thinkific: {
    title: 'Thinkific',
    proof: { by: 'hmac', header: 'x-thinkific-hmac-sha256', hash: 'sha256', encoding: 'hex' },
    id: 'id',
    time: { path: 'created_at', form: 'instant' },
    mediaTypes: ['application/json'],
  },
  standard: {
    title: 'Standard Webhooks',
    proof: { by: 'standard' },
    id: null,
    time: { path: 'timestamp', form: 'instant' },
    mediaTypes: ['application/json'],
  },
}
