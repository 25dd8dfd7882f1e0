import { type FakeResponse, type FakeSystem, json, serveFake } from './fake-system.ts'

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

/** The state of a stand-in, and what happens in it. */
export interface FakeClassroom {
  /** Answers requests to Classroom, and to the token endpoint at /token. */
  readonly system: FakeSystem
  readonly requests: SeenRequest[]
  /** Forms that the token endpoint received. */
  readonly grants: URLSearchParams[]
  readonly users: GoogleUser[]
  readonly courses: FakeCourse[]
  readonly invitations: { id: string; courseId: string; userId: string; role: string }[]
  /** Scopes, in short, that the user has granted. */
  scopes: string[]
  /** False for an account that belongs to no domain. */
  hasDomain: boolean
  /** Error of the token endpoint, such as `invalid_grant`. */
  refusesGrants: string | null
  /** Maximum number of items on a page, whatever is asked for. */
  pageSize: number
  /** Seconds to wait after status 429. */
  retryAfter: number
  /** Makes requests fail. */
  fail(method: string, path: RegExp, answer: FaultAnswer, options?: { skip?: number; times?: number }): void
  /** Ends all faults. */
  mend(): void
  /** Ends all access tokens. */
  revokeTokens(): void
  addUser(email: string, options?: { isHidden?: true }): GoogleUser
  addCourse(name: string, options?: { alias?: string; state?: string }): FakeCourse
  addWork(course: FakeCourse, title: string, maxPoints?: number, isOurs?: boolean): Work
  submission(course: FakeCourse, work: Work, email: string): Submission
}

/** A stand-in that is served. */
export interface ServedClassroom extends FakeClassroom {
  readonly url: string
  readonly tokenUrl: string
  close(): void
}

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

interface Reply {
  readonly status: number
  readonly body: unknown
  readonly headers?: Record<string, string>
}

class Refusal extends Error {
  readonly reply: Reply

  constructor(code: number, status: string, message: string, headers: Record<string, string> = {}) {
    super(message)
    this.reply = { status: code, body: { error: { code, message, status } }, headers }
  }
}

const notFound = () => new Refusal(404, 'NOT_FOUND', 'Requested entity was not found.')
const exists = () => new Refusal(409, 'ALREADY_EXISTS', 'Requested entity already exists')
const invalid = (message: string) => new Refusal(400, 'INVALID_ARGUMENT', message)
const denied = (message: string) => new Refusal(403, 'PERMISSION_DENIED', message)
const failedPrecondition = (message: string) => new Refusal(400, 'FAILED_PRECONDITION', message)

/** Serves a stand-in for Classroom on loopback. */
export async function openFakeClassroom(): Promise<ServedClassroom> {
  const fake = createFakeClassroom()
  const { url, close } = await serveFake(fake.system)
  return Object.assign(fake, { url, tokenUrl: `${url}/token`, close })
}

/** Creates a stand-in for Classroom; its signed-in user is an admin of the domain school.example. */
export function createFakeClassroom(): FakeClassroom {
  let serial = 100
  const nextId = () => {
    serial += 1
    return String(serial * 7919)
  }
  const faults: Fault[] = []
  const tokens = new Set<string>()
  const admin: GoogleUser = { id: '1', email: `admin@${domain}`, given: 'Admin', family: 'Istrator' }

  const fake: Omit<FakeClassroom, 'system'> = {
    requests: [],
    grants: [],
    users: [admin],
    courses: [],
    invitations: [],
    scopes: [...classroomScopes],
    hasDomain: true,
    refusesGrants: null,
    pageSize: 100,
    retryAfter: 1,
    fail: (method, path, answer, { skip = 0, times = 1 } = {}) =>
      void faults.push({ method, path, answer, skip, times }),
    mend: () => void faults.splice(0),
    revokeTokens: () => tokens.clear(),
    addUser(email, options = {}) {
      const [name = ''] = email.split('@')
      const [given = name, family = 'Example'] = name.split('.')
      const user = { id: nextId(), email, given, family, ...options }
      this.users.push(user)
      return user
    },
    addCourse(name, { alias, state = 'ACTIVE' } = {}) {
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
      this.courses.unshift(course)
      return course
    },
    addWork(course, title, maxPoints, isOurs = false) {
      return makeWork(
        course,
        { title, workType: 'ASSIGNMENT', state: 'PUBLISHED', ...(maxPoints && { maxPoints }) },
        isOurs,
      )
    },
    submission(course, work, email) {
      const user = fake.users.find((one) => one.email === email)
      const found = course.submissions.get(work.id)?.find(({ userId }) => userId === user?.id)
      if (!found) throw new Error(`no submission of ${email}`)
      return found
    },
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
    throw new Refusal(403, 'PERMISSION_DENIED', 'Request had insufficient authentication scopes.', {
      'www-authenticate': `Bearer realm="https://accounts.google.com/", error="insufficient_scope", scope="${scopePrefix}${names[0]}"`,
    })
  }

  function page(name: string, items: readonly unknown[], query: URLSearchParams): Reply {
    const start = Number(Buffer.from(query.get('pageToken') ?? '', 'base64url').toString() || 0)
    const size = Math.min(Number(query.get('pageSize') ?? 0) || fake.pageSize, fake.pageSize)
    const next =
      start + size < items.length ? Buffer.from(String(start + size)).toString('base64url') : undefined
    const shown = items.slice(start, start + size)
    // Google leaves out empty lists.
    return {
      status: 200,
      body: { ...(shown.length > 0 && { [name]: shown }), ...(next && { nextPageToken: next }) },
    }
  }

  function addMember(course: FakeCourse, role: 'students' | 'teachers', userId: unknown): Reply {
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
    return { status: 200, body: memberOf(course, user.id) }
  }

  function createCourse(body: Record<string, unknown>): Reply {
    if (typeof body['name'] !== 'string') throw invalid('Course name is required.')
    userOf(body['ownerId'])
    const { id: alias, ...fields } = body
    if (alias !== undefined && !/^[dp]:.{1,254}$/.test(String(alias))) throw invalid('Invalid alias.')
    if (String(alias).startsWith('d:') && !fake.hasDomain)
      throw failedPrecondition('The user is in no domain.')
    if (fake.courses.some(({ aliases }) => aliases.includes(String(alias)))) throw exists()
    const course = fake.addCourse(body['name'], { ...(alias !== undefined && { alias: String(alias) }) })
    Object.assign(course.fields, { courseState: 'PROVISIONED', ...fields, ownerId: admin.id })
    return { status: 200, body: course.fields }
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

  function invite(body: Record<string, unknown>): Reply {
    const course = courseOf(String(body['courseId']))
    const user = userOf(body['userId'])
    const role = String(body['role'])
    if (!['STUDENT', 'TEACHER'].includes(role)) throw invalid('Invalid role.')
    if (course.students.includes(user.id) || course.teachers.includes(user.id))
      throw failedPrecondition('The user already has this role.')
    if (fake.invitations.some((one) => one.courseId === course.id && one.userId === user.id)) throw exists()
    const made = { id: `inv${nextId()}`, courseId: course.id, userId: user.id, role }
    fake.invitations.push(made)
    return { status: 200, body: made }
  }

  function answer(
    method: string,
    path: string,
    query: URLSearchParams,
    body: Record<string, unknown>,
  ): Reply {
    const [, , noun = '', id = '', part = '', ...rest] = path.split('/').map(decodeURIComponent)
    const at = `${method} ${[noun, id && ':', part, ...rest.map((_, at) => (at === 1 ? rest[1] : ':'))].filter(Boolean).join('/')}`
    if (noun === 'userProfiles') {
      requireScope('classroom.rosters', 'classroom.rosters.readonly', 'classroom.profile.emails')
      return { status: 200, body: profileOf(userOf(id)) }
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
        return { status: 200, body: courseOf(id).fields }
      case 'PATCH courses/:':
        patch(courseOf(id).fields, body, query, courseMask)
        return { status: 200, body: courseOf(id).fields }
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
        return { status: 200, body: shownWork(course, makeWork(course, body, true)) }
      }
    }
    const [workId = '', inner] = rest
    if (method === 'PATCH' && inner === undefined) {
      const work = workOf(courseOf(id), workId)
      patch(work, body, query, ['title', 'description', 'state', 'maxPoints'])
      return { status: 200, body: shownWork(courseOf(id), work) }
    }
    return answerSubmissions(method, courseOf(id), rest, query, body)
  }

  function answerSubmissions(
    method: string,
    course: FakeCourse,
    [workId = '', noun, last = '']: readonly string[],
    query: URLSearchParams,
    body: Record<string, unknown>,
  ): Reply {
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
    if (method === 'GET') return { status: 200, body: shownSubmission(course, work, submission) }
    if (!work.associatedWithDeveloper)
      throw denied(
        '@ProjectPermissionDenied The Developer Console project is not permitted to make this request.',
      )
    if (method === 'PATCH') {
      patch(submission, body, query, ['draftGrade', 'assignedGrade'])
      return { status: 200, body: shownSubmission(course, work, submission) }
    }
    if (method !== 'POST' || verb !== 'return') throw notFound()
    if (submission.state !== 'TURNED_IN')
      throw failedPrecondition('The submission is not in a state that can be returned.')
    submission.state = 'RETURNED'
    return { status: 200, body: {} }
  }

  function grant(form: URLSearchParams): Reply {
    fake.grants.push(form)
    if (fake.refusesGrants !== null)
      return {
        status: 400,
        body: { error: fake.refusesGrants, error_description: 'Token has been expired or revoked.' },
      }
    if (form.get('client_id') !== googleClient.id || form.get('client_secret') !== googleClient.secret)
      return { status: 401, body: { error: 'invalid_client' } }
    const isCode = form.get('grant_type') === 'authorization_code'
    if (!isCode && form.get('refresh_token') !== googleClient.refreshToken)
      return { status: 400, body: { error: 'invalid_grant' } }
    const token = `ya29.token-${nextId()}`
    tokens.add(token)
    return {
      status: 200,
      body: {
        access_token: token,
        token_type: 'Bearer',
        scope: fake.scopes.map((name) => scopePrefix + name).join(' '),
        expires_in: 3599,
        ...(isCode && { refresh_token: googleClient.refreshToken }),
      },
    }
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

  function reply(method: string, url: URL, text: string, authorization: string | undefined): Reply {
    const { pathname, searchParams: query } = url
    if (pathname === '/token') return grant(new URLSearchParams(text))
    const body: Record<string, unknown> = text === '' ? {} : JSON.parse(text)
    fake.requests.push({ method, path: pathname, query, body })
    try {
      if (!tokens.has(authorization?.replace('Bearer ', '') ?? ''))
        throw new Refusal(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.')
      return answer(method, pathname, query, body)
    } catch (error) {
      if (error instanceof Refusal) return error.reply
      throw error
    }
  }

  function system(method: string, url: URL, text: string, authorization: string | undefined): FakeResponse {
    const fault = faultOf(method, url.pathname)
    if (typeof fault === 'number') {
      const { pathname: path, searchParams: query } = url
      fake.requests.push({ method, path, query, body: text === '' ? {} : JSON.parse(text) })
      const status = fault === 429 ? 'RESOURCE_EXHAUSTED' : 'INTERNAL'
      const error = { code: fault, message: 'Internal error encountered.', status }
      return json({ error }, fault, fault === 429 ? { 'retry-after': String(fake.retryAfter) } : {})
    }
    if (fault === 'page') {
      const body = '<!doctype html><title>Sign in - Google Accounts</title>'
      return { status: 200, headers: { 'content-type': 'text/html' }, body }
    }
    const { status, body, headers } = reply(method, url, text, authorization)
    if (fault === 'lost')
      return json({ error: { code: 500, message: 'Internal error encountered.', status: 'INTERNAL' } }, 500)
    const answer = json(body, status, headers)
    if (fault === 'broken') return { ...answer, breaksAfter: 0 }
    return fault === 'half' ? { ...answer, breaksAfter: answer.body.length / 2 } : answer
  }

  return Object.assign(fake, {
    system: ({ method, url, body, headers }) =>
      system(method, url, body, String(headers['authorization'] ?? '')),
  } satisfies Pick<FakeClassroom, 'system'>)
}
