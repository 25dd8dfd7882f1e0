import type { LmsKind } from '../contract/integration-choices.ts'

/** How the payload of a kind proves who sent it. */
export type Proof =
  /** The body is a JWT (RFC 7519) that a key of the sender's has signed, in compact form, quoted or not. */
  | { readonly by: 'jwt'; readonly algorithm: 'RS256' }
  /** A member of the body is the secret. */
  | { readonly by: 'member'; readonly member: string }
  /** A parameter of the address is the secret, or the password of its Basic credentials (RFC 7617). */
  | { readonly by: 'address'; readonly parameter: string }
  /** A header has an HMAC of the body, with the secret as its key. */
  | { readonly by: 'hmac'; readonly header: string; readonly hash: 'sha256'; readonly encoding: 'hex' }
  /** The headers of Standard Webhooks 1.0.0. */
  | { readonly by: 'standard' }

/** Where a payload has a time, and its form: RFC 3339, the same without a zone and in UTC, or seconds since 1970. */
export interface TimeSource {
  readonly path: string
  readonly form: 'instant' | 'naive' | 'seconds'
}

/** What tells one kind of delivery from the others. Each also takes the headers of Standard Webhooks as its proof. */
export interface Kind {
  /** The system, as its users call it. */
  readonly title: string
  readonly proof: Proof
  /** Where the payload has an id of the delivery; null where it has none, and is told from others by its digest. */
  readonly id: string | null
  readonly time: TimeSource
  /** The types in which its deliveries come, without parameters. */
  readonly mediaTypes: readonly string[]
}

/** What each external system does: a correction is one line here. */
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
