import type { JsonObject } from '../codec/json-text.ts'
import type { ForeignWrite } from '../contract/foreign-records.ts'
import { type ClassroomAnswer, isListOf, noList, readClassroom } from './classroom-records.ts'
import { objectsIn, type RecordRequest, type RecordResponse, textIn } from './records.ts'

export interface WriteOutcome {
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'invited' | 'refused' | 'waiting' | 'signed_out'
  readonly id: string | null
  readonly detail: string | null
  /** In seconds. */
  readonly retryAfter?: number
}

export type Writing = Generator<RecordRequest, WriteOutcome, RecordResponse>

/**
 * Writes a record to Google Classroom so that repeating it does nothing twice: courses have an alias, people are enrolled
 * or invited once, course work is looked for first, and grades are set. Nothing is deleted.
 */
export function writeClassroom(record: ForeignWrite, token: string): Writing {
  const writer = new Writer(token)
  switch (record.part) {
    case 'courses':
      return writer.course(record)
    case 'enrollments':
      return writer.member(record)
    case 'items':
      return writer.item(record)
    case 'grades':
      return writer.grade(record)
  }
}

type Failure = Extract<ClassroomAnswer, { readonly refusal: string }>
type Step = Generator<RecordRequest, ClassroomAnswer, RecordResponse>

const courseStates = { draft: 'PROVISIONED', published: 'ACTIVE', archived: 'ARCHIVED' } as const
const maxPages = 50

class Writer {
  readonly #token: string

  constructor(token: string) {
    this.#token = token
  }

  *course({ id, externalId, title, description, status }: ForeignWrite): Writing {
    const fields = {
      ...(title !== null && { name: title }),
      ...(description !== null && { description }),
      ...(status !== null && { courseState: courseStates[status] }),
    }
    if (id !== null) {
      const mask = new URLSearchParams({ updateMask: Object.keys(fields).join(',') })
      const answer = yield* this.#send('PATCH', `/v1/courses/${segment(id)}?${mask}`, fields)
      return 'json' in answer ? done('updated', id) : failed(answer)
    }
    if (externalId === null || title === null) return refusedFor('a new course needs externalId and title')
    // Classroom has aliases of a domain, and for accounts without one, of the project.
    for (const scope of ['d', 'p']) {
      const alias = `${scope}:${externalId}`
      const answer = yield* this.#send('POST', '/v1/courses', { id: alias, ownerId: 'me', ...fields })
      if ('json' in answer) return done('created', textIn(answer.json, 'id'))
      if (answer.code === 'FAILED_PRECONDITION' && scope === 'd') continue
      if (answer.status !== 409) return failed(answer)
      const found = yield* this.#send('GET', `/v1/courses/${segment(alias)}`)
      return 'json' in found ? done('unchanged', textIn(found.json, 'id')) : failed(found)
    }
    return refusedFor('the account can have no alias for a course')
  }

  *member({ courseId, email, role }: ForeignWrite): Writing {
    if (courseId === null || email === null || role === null) {
      return refusedFor('an enrolment needs courseId, email and role')
    }
    const list = role === 'instructor' ? 'teachers' : 'students'
    const answer = yield* this.#send('POST', `/v1/courses/${segment(courseId)}/${list}`, { userId: email })
    if ('json' in answer) return done('created', textIn(answer.json, 'userId'))
    if (answer.status === 409) return done('unchanged', null)
    // Only administrators add people, and only people of their domain (Access.Errors, CannotDirectAddUser).
    const canInvite = answer.refusal === 'permission' && answer.scope === null
    if (answer.status === 404) {
      const course = yield* this.#send('GET', `/v1/courses/${segment(courseId)}`)
      const isCourse = 'json' in course
      if (!isCourse && course.status !== 404) return failed(course)
      return failed(answer, isCourse ? 'no Google account with this address' : 'no such course')
    }
    if (!canInvite) return failed(answer)
    const invitation = { courseId, userId: email, role: role === 'instructor' ? 'TEACHER' : 'STUDENT' }
    const invited = yield* this.#send('POST', '/v1/invitations', invitation)
    if ('json' in invited) return done('invited', textIn(invited.json, 'userId'))
    if (invited.status === 409) return done('invited', null)
    if (invited.code === 'FAILED_PRECONDITION') return done('unchanged', null)
    return failed(invited, 'no Google account with this address')
  }

  *item({ id, courseId, label, scoreMaximum }: ForeignWrite): Writing {
    if (courseId === null || label === null || scoreMaximum === null) {
      return refusedFor('an item needs courseId, label and scoreMaximum')
    }
    const works: `/${string}` = `/v1/courses/${segment(courseId)}/courseWork`
    if (id !== null) {
      const path = `${works}/${segment(id)}?updateMask=maxPoints` as `/${string}`
      const answer = yield* this.#send('PATCH', path, { maxPoints: scoreMaximum })
      return 'json' in answer ? done('updated', id) : failed(answer)
    }
    // Course work has no alias: after a lost response, it is found by its title.
    const found = yield* this.#findWork(works, label)
    if ('refusal' in found) return failed(found)
    if (found.json['id'] !== undefined) return done('unchanged', textIn(found.json, 'id'))
    const answer = yield* this.#send('POST', works, {
      ...{ title: label, workType: 'ASSIGNMENT', state: 'PUBLISHED', maxPoints: scoreMaximum },
    })
    return 'json' in answer ? done('created', textIn(answer.json, 'id')) : failed(answer)
  }

  /** Finds work of this project only; an empty object if there is none. */
  *#findWork(works: string, title: string): Step {
    let pageToken: string | null = null
    for (let page = 0; page < maxPages; page += 1) {
      const query: URLSearchParams = new URLSearchParams({
        // The newest first: a request whose response was lost has created the first one.
        ...{ pageSize: '100', orderBy: 'updateTime desc' },
        ...(pageToken !== null && { pageToken }),
      })
      const answer: ClassroomAnswer = yield* this.#send('GET', `${works}?${query}` as `/${string}`)
      if ('refusal' in answer) return answer
      // Any other answer does not show whether the course work exists, and creating it now could duplicate it.
      if (!isListOf(answer.json, 'courseWork')) {
        return { ...noList, status: 200, code: '', scope: null }
      }
      const found = objectsIn(answer.json['courseWork']).find(
        (work) => work['associatedWithDeveloper'] === true && work['title'] === title,
      )
      if (found) return { json: found }
      pageToken = textIn(answer.json, 'nextPageToken')
      if (pageToken === null) break
    }
    return { json: {} }
  }

  *grade({ id, courseId, itemId, scoreGiven, published, returned }: ForeignWrite): Writing {
    if (id === null || courseId === null || itemId === null) {
      return refusedFor('a grade needs id, courseId and itemId')
    }
    const works = `/v1/courses/${segment(courseId)}/courseWork/${segment(itemId)}`
    const path = `${works}/studentSubmissions/${segment(id)}` as `/${string}`
    // A draft is seen by teachers only. Clearing leaves the fields of the mask out of the body.
    const names = published ? ['draftGrade', 'assignedGrade'] : ['draftGrade']
    const fields = scoreGiven === null ? {} : Object.fromEntries(names.map((name) => [name, scoreGiven]))
    const mask = new URLSearchParams({ updateMask: names.join(',') })
    const graded = yield* this.#send('PATCH', `${path}?${mask}`, fields)
    if ('refusal' in graded) {
      if (graded.code !== 'ProjectPermissionDenied') return failed(graded)
      return refusedFor('another Google Cloud project made the course work: its grades cannot be written')
    }
    if (!returned || !published) return done('updated', id)
    const answer = yield* this.#send('POST', `${path}:return`, {})
    if ('json' in answer) return done('updated', id)
    if (answer.code !== 'FAILED_PRECONDITION') return failed(answer)
    const now = yield* this.#send('GET', path)
    if ('refusal' in now) return failed(now)
    const isReturned = now.json['state'] === 'RETURNED'
    return done('updated', id, isReturned ? null : 'not returned: the learner has not turned it in')
  }

  *#send(method: RecordRequest['method'], path: `/${string}`, body?: JsonObject): Step {
    const response = yield {
      ...{ method, path },
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${this.#token}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    }
    return readClassroom(response)
  }
}

function segment(id: string): string {
  return encodeURIComponent(id)
}

function done(
  outcome: WriteOutcome['outcome'],
  id: string | null,
  detail: string | null = null,
): WriteOutcome {
  return { outcome, id, detail }
}

function refusedFor(detail: string): WriteOutcome {
  return { outcome: 'refused', id: null, detail }
}

function failed({ refusal, detail, retryAfter, status }: Failure, absent?: string): WriteOutcome {
  if (refusal === 'busy') return { outcome: 'waiting', id: null, detail, ...(retryAfter && { retryAfter }) }
  if (refusal === 'token') return { outcome: 'signed_out', id: null, detail }
  return { outcome: 'refused', id: null, detail: status === 404 && absent !== undefined ? absent : detail }
}
