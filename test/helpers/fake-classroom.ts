import { type FakeRequest, type FakeResponse, json, serveFake } from './fake-system.ts'

/*
 * A stand-in for Google Classroom and Google's token endpoint, written from the discovery document of Classroom v1
 * (googleapis/google-api-nodejs-client@04bde5a7, discovery/classroom-v1.json), the access errors
 * (developers.google.com/classroom/reference/Access.Errors), the guide to grades
 * (developers.google.com/classroom/guides/classroom-api/manage-grades) and, for tokens, RFC 6749.
 */

/** A person with a Google account. */
interface GoogleUser {
  readonly id: string
  readonly email: string
  readonly given: string
  readonly family: string
  /** True if the signed-in user may not see the address. */
  readonly isHidden?: true
}

interface Work {
  readonly id: string
  readonly title: string
  readonly maxPoints?: number
  readonly state: string
  readonly workType: string
  readonly associatedWithDeveloper: boolean
  readonly description?: string
}

interface Submission {
  readonly id: string
  readonly userId: string
  state: string
  draftGrade?: number
  assignedGrade?: number
}

/** A course of Classroom. */
interface FakeCourse {
  readonly id: string
  readonly fields: Record<string, unknown>
  readonly aliases: string[]
  readonly students: string[]
  readonly teachers: string[]
  readonly work: Work[]
  readonly submissions: Map<string, Submission[]>
}

/** A request that Classroom received. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly body: unknown
}

interface Fault {
  readonly method: string
  readonly path: RegExp
  readonly answer: FaultAnswer
  /** Requests of this kind that succeed before it. */
  skip: number
  times: number
}

/**
 * What goes wrong: a status before anything is done, `lost` after it was done (500), a login page with 200, half a
 * response, or a broken connection after it was done.
 */
type FaultAnswer = number | 'lost' | 'page' | 'half' | 'broken'

/** A stand-in, its state, and what happens in it. */
export type FakeClassroom = ReturnType<typeof createFakeClassroom>

/** A stand-in that is served. */
export type ServedClassroom = Awaited<ReturnType<typeof openFakeClassroom>>

const domain = 'school.example'
const scopePrefix = 'https://www.googleapis.com/auth/'

/** The scopes of Classroom that a sign-in asks for, in short. */
const classroomScopes = [
  'classroom.courses',
  'classroom.rosters',
  'classroom.profile.emails',
  'classroom.coursework.students',
]

/** Secrets of the tests; they protect nothing. */
export const googleClient = {
  id: '1234-abc.apps.googleusercontent.com',
  secret: 'GOCSPX-a-client-secret-of-tests',
  refreshToken: '1//a-refresh-token-of-tests-0815',
}

/** Settings of an integration with a stand-in in the process of the tests. */
export const googleIntegration = {
  baseUrl: 'https://classroom.example.org',
  tokenUrl: 'https://classroom.example.org/token',
  clientId: googleClient.id,
  clientSecret: googleClient.secret,
  refreshToken: googleClient.refreshToken,
}

/** An error of an API of Google, as a response. */
export class Refusal extends Error {
  readonly response: FakeResponse

  constructor(code: number, status: string, message: string, details?: readonly object[], headers = {}) {
    super(message)
    this.response = json({ error: { code, message, status, ...(details && { details }) } }, code, headers)
  }
}

export const notFound = () => new Refusal(404, 'NOT_FOUND', 'Requested entity was not found.')
export const invalid = (message: string) => new Refusal(400, 'INVALID_ARGUMENT', message)
const exists = () => new Refusal(409, 'ALREADY_EXISTS', 'Requested entity already exists')
const denied = (message: string) => new Refusal(403, 'PERMISSION_DENIED', message)
const failedPrecondition = (message: string) => new Refusal(400, 'FAILED_PRECONDITION', message)

/** Serves a stand-in for Classroom on loopback. */
export async function openFakeClassroom() {
  const fake = createFakeClassroom()
  const { url, close } = await serveFake(fake.system)
  return Object.assign(fake, { url, tokenUrl: `${url}/token`, close })
}

/** Creates a stand-in for Classroom; its signed-in user is an admin of the domain school.example. */
export function createFakeClassroom() {
  let serial = 100
  const nextId = () => {
    serial += 1
    return String(serial * 7919)
  }
  const faults: Fault[] = []
  const tokens = new Set<string>()
  const admin: GoogleUser = { id: '1', email: `admin@${domain}`, given: 'Admin', family: 'Istrator' }

  const fake = {
    requests: [] as SeenRequest[],
    /** Forms that the token endpoint received. */
    grants: [] as URLSearchParams[],
    users: [admin],
    courses: [] as FakeCourse[],
    invitations: [] as { id: string; courseId: string; userId: string; role: string }[],
    /** Scopes, in short, that the user has granted. */
    scopes: [...classroomScopes],
    /** False for an account that belongs to no domain. */
    hasDomain: true,
    /** Error of the token endpoint, such as `invalid_grant`. */
    refusesGrants: null as string | null,
    /** Maximum number of items on a page, whatever is asked for. */
    pageSize: 100,
    /** Seconds to wait after status 429. */
    retryAfter: 1,
    /** Makes requests fail. */
    fail: (method: string, path: RegExp, answer: FaultAnswer, { skip = 0, times = 1 } = {}) =>
      void faults.push({ method, path, answer, skip, times }),
    /** Ends all faults. */
    mend: () => void faults.splice(0),
    /** Ends all access tokens. */
    revokeTokens: () => tokens.clear(),
    addUser(email: string, options: { isHidden?: true } = {}): GoogleUser {
      const [name = ''] = email.split('@')
      const [given = name, family = 'Example'] = name.split('.')
      const user = { id: nextId(), email, given, family, ...options }
      fake.users.push(user)
      return user
    },
    addCourse(
      name: string,
      { alias, state = 'ACTIVE' }: { alias?: string; state?: string } = {},
    ): FakeCourse {
      const id = nextId()
      const course: FakeCourse = {
        id,
        fields: { id, name, courseState: state, ownerId: admin.id },
        aliases: alias === undefined ? [] : [alias],
        students: [],
        teachers: [admin.id],
        work: [],
        submissions: new Map(),
      }
      fake.courses.unshift(course)
      return course
    },
    addWork: (course: FakeCourse, title: string, maxPoints?: number, isOurs = false): Work =>
      makeWork(
        course,
        { title, workType: 'ASSIGNMENT', state: 'PUBLISHED', ...(maxPoints && { maxPoints }) },
        isOurs,
      ),
    submission(course: FakeCourse, work: Work, email: string): Submission {
      const user = fake.users.find((one) => one.email === email)
      const found = course.submissions.get(work.id)?.find(({ userId }) => userId === user?.id)
      if (!found) throw new Error(`no submission of ${email}`)
      return found
    },
    /** Answers requests to Classroom, and to the token endpoint at /token. */
    system,
  }

  function makeWork(course: FakeCourse, fields: Record<string, unknown>, isOurs: boolean): Work {
    const work = {
      state: 'DRAFT',
      ...fields,
      id: nextId(),
      associatedWithDeveloper: isOurs,
    } as unknown as Work
    course.work.unshift(work)
    course.submissions.set(work.id, [])
    if (work.state === 'PUBLISHED')
      for (const student of course.students) addSubmission(course, work, student)
    return work
  }

  function addSubmission(course: FakeCourse, work: Work, userId: string): void {
    course.submissions.get(work.id)?.push({ id: `Cg${nextId()}`, userId, state: 'NEW' })
  }

  function courseOf(id: string): FakeCourse {
    const found = fake.courses.find((course) => course.id === id || course.aliases.includes(id))
    if (!found) throw notFound()
    return found
  }

  function userOf(id: unknown): GoogleUser {
    if (id === 'me') return admin
    const found = fake.users.find((user) => user.id === id || user.email === id)
    if (!found) throw notFound()
    return found
  }

  const workOf = (course: FakeCourse, id: string): Work => {
    const found = course.work.find((work) => work.id === id)
    if (!found) throw notFound()
    return found
  }

  const profileOf = ({ id, email, given, family, isHidden }: GoogleUser) => ({
    id,
    name: { givenName: given, familyName: family, fullName: `${given} ${family}` },
    ...(fake.scopes.includes('classroom.profile.emails') && !isHidden && { emailAddress: email }),
  })
  const memberOf = (course: FakeCourse, userId: string) => ({
    courseId: course.id,
    userId,
    profile: profileOf(userOf(userId)),
  })
  const shownWork = (course: FakeCourse, work: Work) => ({ courseId: course.id, ...work })
  const shownSubmission = (course: FakeCourse, work: Work, submission: Submission) => ({
    courseId: course.id,
    courseWorkId: work.id,
    courseWorkType: work.workType,
    associatedWithDeveloper: work.associatedWithDeveloper,
    updateTime: '2026-02-20T10:00:00.123Z',
    ...submission,
  })

  function requireScope(...names: string[]): void {
    if (names.some((name) => fake.scopes.includes(name))) return
    const challenge = `Bearer realm="https://accounts.google.com/", error="insufficient_scope", scope="${scopePrefix}${names[0]}"`
    const message = 'Request had insufficient authentication scopes.'
    throw new Refusal(403, 'PERMISSION_DENIED', message, undefined, { 'www-authenticate': challenge })
  }

  function page(name: string, items: readonly unknown[], query: URLSearchParams): FakeResponse {
    const start = Number(Buffer.from(query.get('pageToken') ?? '', 'base64url').toString() || 0)
    const size = Math.min(Number(query.get('pageSize') ?? 0) || fake.pageSize, fake.pageSize)
    const next =
      start + size < items.length ? Buffer.from(String(start + size)).toString('base64url') : undefined
    const shown = items.slice(start, start + size)
    // Google leaves out empty lists.
    return json({ ...(shown.length > 0 && { [name]: shown }), ...(next && { nextPageToken: next }) })
  }

  function addMember(course: FakeCourse, role: 'students' | 'teachers', userId: unknown): FakeResponse {
    const isMail = typeof userId === 'string' && userId.includes('@')
    if (isMail && !userId.endsWith(`@${domain}`)) {
      throw denied(
        '@CannotDirectAddUser You are not permitted to directly add the requested user to the course.',
      )
    }
    const user = userOf(userId)
    if (!user.email.endsWith(`@${domain}`))
      throw denied('@CannotDirectAddUser The user cannot be added directly.')
    if (course.students.includes(user.id) || course.teachers.includes(user.id)) throw exists()
    course[role].push(user.id)
    if (role === 'students') {
      for (const work of course.work) if (work.state === 'PUBLISHED') addSubmission(course, work, user.id)
    }
    return json(memberOf(course, user.id))
  }

  function createCourse(body: Record<string, unknown>): FakeResponse {
    if (typeof body['name'] !== 'string') throw invalid('Course name is required.')
    userOf(body['ownerId'])
    const { id: alias, ...fields } = body
    if (alias !== undefined && !/^[dp]:.{1,254}$/.test(String(alias))) throw invalid('Invalid alias.')
    if (String(alias).startsWith('d:') && !fake.hasDomain)
      throw failedPrecondition('The user is in no domain.')
    if (fake.courses.some(({ aliases }) => aliases.includes(String(alias)))) throw exists()
    const course = fake.addCourse(body['name'], { ...(alias !== undefined && { alias: String(alias) }) })
    Object.assign(course.fields, { courseState: 'PROVISIONED', ...fields, ownerId: admin.id })
    return json(course.fields)
  }

  const courseMask = [
    'name',
    'section',
    'descriptionHeading',
    'description',
    'room',
    'courseState',
    'ownerId',
  ]

  function patch(
    target: object,
    body: Record<string, unknown>,
    query: URLSearchParams,
    allowed: string[],
  ): void {
    const mask = (query.get('updateMask') ?? '').split(',').filter((name) => name !== '')
    const wrong = mask.find((name) => !allowed.includes(name))
    if (mask.length === 0 || wrong !== undefined) throw invalid(`Invalid update mask: ${wrong ?? 'empty'}`)
    for (const name of mask) {
      if (body[name] === undefined) delete (target as Record<string, unknown>)[name]
      else (target as Record<string, unknown>)[name] = body[name]
    }
  }

  function invite(body: Record<string, unknown>): FakeResponse {
    const course = courseOf(String(body['courseId']))
    const user = userOf(body['userId'])
    const role = String(body['role'])
    if (!['STUDENT', 'TEACHER'].includes(role)) throw invalid('Invalid role.')
    if (course.students.includes(user.id) || course.teachers.includes(user.id))
      throw failedPrecondition('The user already has this role.')
    if (fake.invitations.some((one) => one.courseId === course.id && one.userId === user.id)) throw exists()
    const made = { id: `inv${nextId()}`, courseId: course.id, userId: user.id, role }
    fake.invitations.push(made)
    return json(made)
  }

  function answer(
    method: string,
    path: string,
    query: URLSearchParams,
    body: Record<string, unknown>,
  ): FakeResponse {
    const [, , noun = '', id = '', part = '', ...rest] = path.split('/').map(decodeURIComponent)
    const at = `${method} ${[noun, id && ':', part, ...rest.map((_, at) => (at === 1 ? rest[1] : ':'))].filter(Boolean).join('/')}`
    if (noun === 'userProfiles') {
      requireScope('classroom.rosters', 'classroom.rosters.readonly', 'classroom.profile.emails')
      return json(profileOf(userOf(id)))
    }
    if (noun === 'invitations') {
      requireScope('classroom.rosters', ...(method === 'GET' ? ['classroom.rosters.readonly'] : []))
      if (method === 'POST') return invite(body)
      const courseId = query.get('courseId')
      if (courseId === null && query.get('userId') === null) throw invalid('courseId or userId is required.')
      return page(
        'invitations',
        fake.invitations.filter((one) => courseId === null || one.courseId === courseOf(courseId).id),
        query,
      )
    }
    if (noun !== 'courses') throw notFound()
    if (part === '' || part === 'aliases') {
      requireScope('classroom.courses', ...(method === 'GET' ? ['classroom.courses.readonly'] : []))
    } else if (part === 'students' || part === 'teachers') {
      requireScope('classroom.rosters', ...(method === 'GET' ? ['classroom.rosters.readonly'] : []))
    } else {
      requireScope(
        'classroom.coursework.students',
        ...(method === 'GET' ? ['classroom.coursework.students.readonly'] : []),
      )
    }
    switch (at) {
      case 'GET courses': {
        const states = query.getAll('courseStates')
        const shown = fake.courses.filter(
          ({ fields }) => states.length === 0 || states.includes(String(fields['courseState'])),
        )
        return page(
          'courses',
          shown.map(({ fields }) => fields),
          query,
        )
      }
      case 'POST courses':
        return createCourse(body)
      case 'GET courses/:':
        return json(courseOf(id).fields)
      case 'PATCH courses/:':
        patch(courseOf(id).fields, body, query, courseMask)
        return json(courseOf(id).fields)
      case 'GET courses/:/aliases':
        return page(
          'aliases',
          courseOf(id).aliases.map((alias) => ({ alias })),
          query,
        )
      case 'GET courses/:/students':
      case 'GET courses/:/teachers': {
        const course = courseOf(id)
        const members = part === 'students' ? course.students : course.teachers
        return page(
          part,
          members.map((member) => memberOf(course, member)),
          query,
        )
      }
      case 'POST courses/:/students':
      case 'POST courses/:/teachers':
        return addMember(courseOf(id), part === 'students' ? 'students' : 'teachers', body['userId'])
      case 'GET courses/:/courseWork': {
        const course = courseOf(id)
        return page(
          'courseWork',
          course.work.filter(({ state }) => state === 'PUBLISHED').map((work) => shownWork(course, work)),
          query,
        )
      }
      case 'POST courses/:/courseWork': {
        const course = courseOf(id)
        if (typeof body['title'] !== 'string' || typeof body['workType'] !== 'string')
          throw invalid('title and workType are required.')
        return json(shownWork(course, makeWork(course, body, true)))
      }
    }
    const [workId = '', inner] = rest
    if (method === 'PATCH' && inner === undefined) {
      const work = workOf(courseOf(id), workId)
      patch(work, body, query, ['title', 'description', 'state', 'maxPoints'])
      return json(shownWork(courseOf(id), work))
    }
    return answerSubmissions(method, courseOf(id), rest, query, body)
  }

  function answerSubmissions(
    method: string,
    course: FakeCourse,
    [workId = '', noun, last = '']: readonly string[],
    query: URLSearchParams,
    body: Record<string, unknown>,
  ): FakeResponse {
    if (noun !== 'studentSubmissions') throw notFound()
    if (method === 'GET' && last === '') {
      const userId = query.get('userId')
      const user = userId === null ? undefined : userOf(userId)
      const works = workId === '-' ? course.work : [workOf(course, workId)]
      const all = works.flatMap((work) =>
        (course.submissions.get(work.id) ?? [])
          .filter((one) => !user || one.userId === user.id)
          .map((one) => shownSubmission(course, work, one)),
      )
      return page('studentSubmissions', all, query)
    }
    const work = workOf(course, workId)
    const [id, verb] = last.split(':')
    const submission = course.submissions.get(work.id)?.find((one) => one.id === id)
    if (!submission) throw notFound()
    if (method === 'GET') return json(shownSubmission(course, work, submission))
    if (!work.associatedWithDeveloper)
      throw denied(
        '@ProjectPermissionDenied The Developer Console project is not permitted to make this request.',
      )
    if (method === 'PATCH') {
      patch(submission, body, query, ['draftGrade', 'assignedGrade'])
      return json(shownSubmission(course, work, submission))
    }
    if (method !== 'POST' || verb !== 'return') throw notFound()
    if (submission.state !== 'TURNED_IN')
      throw failedPrecondition('The submission is not in a state that can be returned.')
    submission.state = 'RETURNED'
    return json({})
  }

  function grant(form: URLSearchParams): FakeResponse {
    fake.grants.push(form)
    if (fake.refusesGrants !== null) {
      const error_description = 'Token has been expired or revoked.'
      return json({ error: fake.refusesGrants, error_description }, 400)
    }
    if (form.get('client_id') !== googleClient.id || form.get('client_secret') !== googleClient.secret)
      return json({ error: 'invalid_client' }, 401)
    const isCode = form.get('grant_type') === 'authorization_code'
    if (!isCode && form.get('refresh_token') !== googleClient.refreshToken)
      return json({ error: 'invalid_grant' }, 400)
    const token = `ya29.token-${nextId()}`
    tokens.add(token)
    return json({
      access_token: token,
      token_type: 'Bearer',
      scope: fake.scopes.map((name) => scopePrefix + name).join(' '),
      expires_in: 3599,
      ...(isCode && { refresh_token: googleClient.refreshToken }),
    })
  }

  function faultOf(method: string, path: string): FaultAnswer | undefined {
    const fault = faults.find((one) => one.times > 0 && one.method === method && one.path.test(path))
    if (!fault) return undefined
    if (fault.skip > 0) {
      fault.skip -= 1
      return undefined
    }
    fault.times -= 1
    return fault.answer
  }

  function reply({ method, url, headers, body: text }: FakeRequest): FakeResponse {
    const { pathname, searchParams: query } = url
    if (pathname === '/token') return grant(new URLSearchParams(text))
    const body: Record<string, unknown> = text === '' ? {} : JSON.parse(text)
    fake.requests.push({ method, path: pathname, query, body })
    try {
      if (!tokens.has(String(headers['authorization'] ?? '').replace('Bearer ', '')))
        throw new Refusal(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.')
      return answer(method, pathname, query, body)
    } catch (error) {
      if (error instanceof Refusal) return error.response
      throw error
    }
  }

  function system(request: FakeRequest): FakeResponse {
    const { method, url, body: text } = request
    const fault = faultOf(method, url.pathname)
    if (typeof fault === 'number') {
      const { pathname: path, searchParams: query } = url
      fake.requests.push({ method, path, query, body: text === '' ? {} : JSON.parse(text) })
      const status = fault === 429 ? 'RESOURCE_EXHAUSTED' : 'INTERNAL'
      const headers = fault === 429 ? { 'retry-after': String(fake.retryAfter) } : {}
      return new Refusal(fault, status, 'Internal error encountered.', undefined, headers).response
    }
    if (fault === 'page') {
      const body = '<!doctype html><title>Sign in - Google Accounts</title>'
      return { status: 200, headers: { 'content-type': 'text/html' }, body }
    }
    const answer = reply(request)
    if (fault === 'lost') return new Refusal(500, 'INTERNAL', 'Internal error encountered.').response
    if (fault === 'broken') return { ...answer, breaksAfter: 0 }
    return fault === 'half' ? { ...answer, breaksAfter: answer.body.length / 2 } : answer
  }

  return fake
}
