import type { FakeRequest, FakeResponse, FakeSystem } from './fake-system.ts'
import { json } from './fake-system.ts'

// A provider of OneRoster, written from the documents of 1EdTech: OneRoster 1.2 (OpenAPI of the rostering service,
// 1EdTech/oneroster-bootcamp@13f31e7) and 1.1 (REST binding). Other providers send neither Link nor X-Total-Count
// (vossenv/oneroster-api-mock@e8636f4, ApiResponseBuilder.java), and take the client by HTTP Basic (its README).

/** How the provider answers. */
export interface OneRosterOptions {
  /** Versions that it has; default both. */
  readonly versions?: readonly ('1.1' | '1.2')[]
  /** Records of a page at most, whatever the limit. */
  readonly pageSize?: number
  /** Way in which it says that more follows; default both. */
  readonly leads?: 'link' | 'total' | 'neither'
  /** True for a provider that knows no pages. */
  readonly ignoresOffset?: boolean
  /** Response to this request in place of its own. */
  readonly instead?: (request: FakeRequest) => FakeResponse | undefined
  /** Scopes of the client; a request for others only is refused. */
  readonly scopes?: readonly string[]
}

/** Credentials of the client. */
export const oneRosterClient = { id: 'learnctl', secret: 'a secret: of the client' } as const
const token = 'token-of-the-provider'

type Lists = Readonly<Record<string, readonly object[]>>

const active = (sourcedId: string) => ({
  sourcedId,
  status: 'active',
  dateLastModified: '2026-01-01T00:00:00.000Z',
})
const ref = (sourcedId: string, type: string) => ({
  href: `https://sis.example/${sourcedId}`,
  sourcedId,
  type,
})

/** Lists of a small school, by their paths below the service. */
export const smallSchool: Lists = {
  academicSessions: [
    {
      ...active('T1'),
      title: 'Spring',
      type: 'term',
      startDate: '2026-01-01',
      endDate: '2026-06-30',
      schoolYear: '2026',
    },
    {
      ...active('G1'),
      title: 'Weeks 1-9',
      type: 'gradingPeriod',
      startDate: '2026-01-01',
      endDate: '2026-03-01',
      schoolYear: '2026',
    },
  ],
  classes: [
    { ...active('bio'), title: 'Biology', terms: [ref('T1', 'academicSession')], course: ref('b', 'course') },
    {
      ...active('che'),
      title: 'Chemistry',
      terms: [ref('T1', 'academicSession')],
      course: ref('c', 'course'),
    },
    { ...active('old'), status: 'tobedeleted', title: 'Latin', terms: [], course: ref('l', 'course') },
  ],
  users: [
    person('ada', 'Ada', 'student'),
    person('bob', 'Bob', 'student', { enabledUser: 'false' }),
    person('cleo', 'Cleo', 'teacher', { preferredFirstName: 'Cle' }),
    person('dad', 'Dad', 'parent'),
    { ...person('gone', 'Gone', 'student'), status: 'tobedeleted' },
  ],
  enrollments: [
    enrolment('bio', 'ada', 'student'),
    enrolment('bio', 'bob', 'student'),
    enrolment('bio', 'cleo', 'teacher'),
    enrolment('che', 'bob', 'student'),
    { ...enrolment('che', 'ada', 'student'), status: 'tobedeleted' },
    enrolment('bio', 'dad', 'guardian'),
  ],
  'classes/bio/lineItems': [
    { ...active('quiz'), title: 'Quiz', resultValueMin: 0, resultValueMax: 20 },
    { ...active('essay'), title: 'Essay', resultValueMin: 0, resultValueMax: 100 },
  ],
  'classes/bio/lineItems/quiz/results': [
    result('ada', 17),
    result('bob', 12, { scoreStatus: 'partially graded' }),
  ],
  'classes/bio/lineItems/essay/results': [result('ada', 80), result('bob', 50, { scoreStatus: 'exempt' })],
  'classes/che/lineItems': [],
  orgs: [{ ...active('s1'), name: 'Sea School', type: 'school', identifier: '' }],
}

function person(id: string, givenName: string, role: string, more: object = {}): object {
  return {
    ...active(id),
    ...{ username: id, enabledUser: 'true', givenName, familyName: 'Smith', email: `${id}@school.example` },
    ...{ role, roles: [{ roleType: 'primary', role, org: ref('s1', 'org') }] },
    ...more,
  }
}

function enrolment(course: string, user: string, role: string): object {
  return {
    ...active(`${course}-${user}`),
    ...{
      user: ref(user, 'user'),
      class: ref(course, 'class'),
      role,
      primary: 'false',
      beginDate: '2026-01-10',
    },
  }
}

function result(student: string, score: number, more: object = {}): object {
  return {
    ...active(`r-${student}-${score}`),
    ...{
      student: ref(student, 'user'),
      score,
      scoreStatus: 'fully graded',
      scoreDate: '2026-02-01',
      ...more,
    },
  }
}

const bases = {
  '1.2': ['/ims/oneroster/rostering/v1p2/', '/ims/oneroster/gradebook/v1p2/'],
  '1.1': ['/ims/oneroster/v1p1/'],
}

/** Returns a provider with these lists. */
export function fakeOneRoster(lists: Lists = smallSchool, options: OneRosterOptions = {}): FakeSystem {
  const { versions = ['1.2', '1.1'], pageSize = 10_000, leads, instead, scopes } = options
  return (request) => {
    const answer = instead?.(request)
    if (answer) return answer
    const { url, headers, body, method } = request
    if (url.pathname === '/oauth/token') {
      const basic = Buffer.from(
        `${encodeURIComponent(oneRosterClient.id)}:${encodeURIComponent(oneRosterClient.secret)}`,
      ).toString('base64')
      const form = new URLSearchParams(body)
      if (method !== 'POST' || headers['authorization'] !== `Basic ${basic}`) {
        return json({ error: 'invalid_client' }, 401)
      }
      if (form.get('grant_type') !== 'client_credentials')
        return json({ error: 'unsupported_grant_type' }, 400)
      const asked = form.get('scope')?.split(' ')
      if (asked && scopes && !asked.some((scope) => scopes.includes(scope))) {
        return json({ error: 'invalid_scope' }, 400)
      }
      return json({ access_token: token, token_type: 'bearer', expires_in: 3600 })
    }
    if (headers['authorization'] !== `Bearer ${token}`) return failure(401, 'unauthorisedrequest')
    const base = versions.flatMap((version) => bases[version]).find((one) => url.pathname.startsWith(one))
    const name = base === undefined ? '' : decodeURIComponent(url.pathname.slice(base.length))
    const all = Object.hasOwn(lists, name) ? lists[name] : undefined
    if (!all) return failure(404, 'unknownobject')
    const offset = options.ignoresOffset ? 0 : Number(url.searchParams.get('offset') ?? 0)
    const limit = Math.min(pageSize, Number(url.searchParams.get('limit') ?? 100))
    const rows = all.slice(offset, offset + limit)
    const next = new URL(url)
    next.searchParams.set('offset', String(offset + limit))
    const hasMore = offset + limit < all.length
    return json({ [name.split('/').at(-1) ?? '']: rows }, 200, {
      ...(leads !== 'link' && leads !== 'neither' && { 'x-total-count': String(all.length) }),
      ...(leads !== 'total' && leads !== 'neither' && hasMore && { link: `<${next}>; rel="next"` }),
    })
  }
}

function failure(status: number, value: string): FakeResponse {
  const field = { imsx_codeMinorFieldName: 'TargetEndSystem', imsx_codeMinorFieldValue: value }
  return json(
    {
      ...{ imsx_codeMajor: 'failure', imsx_severity: 'error', imsx_description: 'No.' },
      imsx_CodeMinor: { imsx_codeMinorField: [field] },
    },
    status,
  )
}
