import { expect, test } from 'vitest'
import { phraseOf, statusOf } from '../../src/contract/errors.ts'

// Programs rely on codes and statuses, so they are written down, not derived.
const golden = `
400 invalid_json invalid_parameter unknown_parameter invalid_cursor duplicate_header malformed_payload
401 missing_credentials invalid_token token_expired invalid_signature timestamp_out_of_range
403 expired_key insufficient_scope forbidden
404 not_found
405 method_not_allowed
408 request_timeout
409 duplicate stale_progress stale_grade invalid_transition course_archived course_deleted progress_disabled has_progress has_lessons has_courses enrollment_inactive user_inactive last_admin endpoint_disabled limit_reached apply_in_progress changes_gone too_old plan_outdated other_system_refused
412 precondition_failed
413 content_too_large
414 uri_too_long
415 unsupported_media_type
421 misdirected_request
422 validation_failed read_only idempotency_mismatch
429 rate_limited
431 headers_too_large
500 internal
503 unavailable encryption_unavailable`

test('every code has the status of the table, and every status a phrase', () => {
  const expected = golden
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [status = '', ...codes] = line.split(' ')
      return codes.map((code) => [code, Number(status)])
    })
  expect(statusOf).toEqual(Object.fromEntries(expected))
  for (const status of Object.values(statusOf)) expect(phraseOf[status]).toMatch(/^[A-Z]/)
})
