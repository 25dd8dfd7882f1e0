/** The server responds by this table, and the client reads it. */
export const statusOf = {
  invalid_json: 400,
  invalid_parameter: 400,
  unknown_parameter: 400,
  malformed_payload: 400,
  invalid_cursor: 400,
  duplicate_header: 400,
  missing_credentials: 401,
  invalid_token: 401,
  token_expired: 401,
  invalid_signature: 401,
  timestamp_out_of_range: 401,
  expired_key: 403,
  insufficient_scope: 403,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  duplicate: 409,
  stale_progress: 409,
  stale_grade: 409,
  invalid_transition: 409,
  course_archived: 409,
  course_deleted: 409,
  progress_disabled: 409,
  has_progress: 409,
  has_lessons: 409,
  has_courses: 409,
  enrollment_inactive: 409,
  user_inactive: 409,
  last_admin: 409,
  endpoint_disabled: 409,
  limit_reached: 409,
  apply_in_progress: 409,
  changes_gone: 409,
  too_old: 409,
  plan_outdated: 409,
  other_system_refused: 409,
  precondition_failed: 412,
  content_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  misdirected_request: 421,
  validation_failed: 422,
  read_only: 422,
  idempotency_mismatch: 422,
  rate_limited: 429,
  headers_too_large: 431,
  internal: 500,
  unavailable: 503,
  encryption_unavailable: 503,
} as const

export type ErrorCode = keyof typeof statusOf
export type ErrorStatus = (typeof statusOf)[ErrorCode]

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
