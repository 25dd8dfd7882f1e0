/** Codes of errors, each with its status and with the case in which it is returned, as a clause. */
const errors = {
  invalid_json: [400, 'the body is not JSON in UTF-8'],
  invalid_parameter: [400, 'a parameter of the query or a header has a value that is not accepted'],
  unknown_parameter: [400, 'the query has an unknown parameter'],
  malformed_payload: [400, 'the payload of a webhook delivery is not what its system sends'],
  invalid_cursor: [400, 'the cursor is not the nextCursor of a page of this list'],
  duplicate_header: [400, 'a header that must be sent once was repeated'],
  missing_credentials: [401, 'the Authorization header is missing'],
  invalid_token: [401, 'the API key or access token is unknown or revoked, or its owner is not active'],
  token_expired: [401, 'the access token has expired: refresh it'],
  invalid_signature: [401, 'a webhook delivery does not prove that its system sent it'],
  timestamp_out_of_range: [401, 'a webhook delivery was signed more than 5 minutes ago, or ahead'],
  expired_key: [403, 'the API key has expired: create another'],
  insufficient_scope: [403, 'the credential does not have the scope that the operation requires'],
  forbidden: [403, 'the role of the caller does not allow it'],
  not_found: [404, 'what the path or the body names does not exist, or the caller cannot see it'],
  method_not_allowed: [405, 'the path does not support the method; Allow lists those that it supports'],
  request_timeout: [408, 'the request took too long to arrive'],
  duplicate: [409, 'another record has the same unique attribute'],
  stale_progress: [409, 'newer progress is stored; it is returned as current'],
  stale_grade: [409, 'a newer grade is stored; it is returned as current'],
  invalid_transition: [409, 'the status cannot change this way; allowed lists the possible statuses'],
  course_archived: [409, 'the course is archived: publish it first'],
  course_deleted: [409, 'the course of the lesson or the group is deleted: restore it first'],
  progress_disabled: [409, 'the course does not record progress'],
  has_progress: [409, 'learners have progress in the course'],
  has_lessons: [409, 'the course has lessons'],
  has_courses: [409, 'courses belong to the term'],
  enrollment_inactive: [409, 'the learner is not enrolled, or the enrolment is inactive'],
  user_inactive: [409, 'the user is suspended or deleted'],
  last_admin: [409, 'the academy would have no active admin'],
  endpoint_disabled: [409, 'the webhook endpoint is disabled: set it active first'],
  limit_reached: [409, 'there are as many of them as an academy, or a user, can have'],
  apply_in_progress: [409, 'another apply holds the apply lease; it is returned as lease'],
  changes_gone: [
    409,
    'after is of another academy, of an earlier state of this one or too long ago: list all rows again',
  ],
  too_old: [409, 'the change is older than 30 days, for which deleted records are kept'],
  plan_outdated: [409, 'records of the plan have changed since: ask for the plan again'],
  other_system_refused: [
    409,
    'the other system of an integration does not allow what was asked of it; the reason is token, permission or answer',
  ],
  precondition_failed: [412, 'If-Match is not the current version, or If-None-Match is'],
  content_too_large: [413, 'the body is larger than 1 MiB'],
  uri_too_long: [414, 'the path and query are longer than 8 KiB'],
  unsupported_media_type: [415, 'the body is compressed, not UTF-8, or its Content-Type is not JSON'],
  misdirected_request: [421, 'the Host header does not name this server'],
  validation_failed: [422, 'the body does not match its schema; errors lists every problem'],
  read_only: [422, 'the body changes a field that is read-only'],
  idempotency_mismatch: [422, 'the Idempotency-Key was used with a different body'],
  rate_limited: [429, 'too many requests: wait for the time in Retry-After'],
  headers_too_large: [431, 'there are more than 1,000 headers, or they are larger than 16 KiB'],
  internal: [500, 'the server failed; its log has the request id'],
  unavailable: [
    503,
    'the server is shutting down or busy, its database is not available, or the address has too many connections',
  ],
  encryption_unavailable: [
    503,
    'the key that stored secrets are encrypted with is missing, or is another one',
  ],
} as const

export type ErrorCode = keyof typeof errors
export type ErrorStatus = (typeof errors)[ErrorCode][0]

/** The server responds by this table, and the client reads it. */
export const statusOf = eachOf(([status]) => status) as {
  readonly [Code in ErrorCode]: (typeof errors)[Code][0]
}
export const whenOf = eachOf(([, when]) => when) as Readonly<Record<ErrorCode, string>>

function eachOf(part: (error: (typeof errors)[ErrorCode]) => number | string): unknown {
  return Object.fromEntries(Object.entries(errors).map(([code, error]) => [code, part(error)]))
}

/** Phrases of RFC 9110 §15 and RFC 6585 §4. */
export const phraseOf: Readonly<Record<ErrorStatus, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  414: 'URI Too Long',
  415: 'Unsupported Media Type',
  421: 'Misdirected Request',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

/** A problem of a request: its location (RFC 6901 fragment for a body, a name for a query) and a description. */
export interface Fault {
  readonly pointer?: string
  readonly parameter?: string
  readonly code: string
  readonly detail: string
}

/** The body of every error: RFC 9457 problem details with extension members. */
export interface Problem {
  readonly type: 'about:blank'
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly instance: string
  readonly code: ErrorCode
  readonly requestId: string
  /** At most 100. */
  readonly errors?: readonly Fault[]
  /** Number of problems besides `errors`. */
  readonly moreErrors?: number
  /** Data for the code: `current`, `from`, `to`, `allowed`, `id`. */
  readonly [member: string]: unknown
}
