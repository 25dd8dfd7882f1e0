import { isJsonObject, type JsonObject } from '../codec/json-text.ts'
import {
  jsonIn,
  type LmsRecord,
  objectsIn,
  type RecordPage,
  type RecordQuestion,
  type RecordRefusal,
  type RecordResponse,
  type RecordSystem,
  refusal,
  textIn,
} from './records.ts'

const title = 'Moodle'

/**
 * Reads Moodle by its web services (docs.moodle.org/en/Using_web_services). The token is a parameter; POST keeps it out of
 * access logs.
 */
export const moodleRecords: RecordSystem = {
  title,
  requestsAtOnce: 4,
  lists: [{ part: 'courses', of: null }],
  request: (question, { token }) => ({
    method: 'POST',
    path: '/webservice/rest/server.php',
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: String(
      new URLSearchParams({
        wstoken: token,
        moodlewsrestformat: 'json',
        wsfunction: functionOf(question),
      }),
    ),
  }),
  read(response, question) {
    const found = readJson(response, question)
    if ('refusal' in found) return found
    return pageOf(found.json)
  },
}

function functionOf(_: RecordQuestion): string {
  return 'core_course_get_courses'
}

/** Reads the JSON of a response; Moodle reports errors with status 200. */
function readJson(
  response: RecordResponse,
  question: RecordQuestion,
): { readonly json: unknown } | RecordRefusal {
  const found = jsonIn(title, response)
  if ('refusal' in found) return found
  const { json } = found
  const code = isJsonObject(json) ? textIn(json, 'errorcode') : null
  if (code === 'invalidtoken')
    return refusal('token', 'the access token is not accepted; it may have expired')
  if (code !== null) {
    return refusal('permission', `the token may not call ${functionOf(question)} (${code})`)
  }
  if (response.status !== 200) return refusal('answer', `${title} answers with HTTP ${response.status}`)
  return found
}

function pageOf(json: unknown): RecordPage {
  return { records: objectsIn(json).flatMap(courseOf), next: null }
}

function courseOf(row: JsonObject): LmsRecord[] {
  // The site itself is a course with this format.
  if (row['format'] === 'site') return []
  return [
    {
      part: 'courses',
      id: textIn(row, 'id'),
      record: {
        externalId: textIn(row, 'shortname') ?? '',
        title: textIn(row, 'fullname') ?? '',
        status: row['visible'] === 0 ? 'draft' : 'published',
      },
    },
  ]
}
