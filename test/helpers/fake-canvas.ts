import { type FakeRequest, type FakeResponse, type FakeSystem, json } from './fake-system.ts'

/** Token that the Canvas of the tests accepts. */
export const canvasToken = '7~canvas-token-of-the-tests'

/** What a Canvas has; ids are its own, and `sis` those of the school. */
export interface CanvasSchool {
  readonly terms?: readonly { readonly id: number; readonly sis: string; readonly name: string }[]
  readonly users: readonly CanvasUser[]
  readonly courses: readonly CanvasCourse[]
  readonly enrollments: readonly CanvasEnrollment[]
  readonly scores?: readonly CanvasScore[]
}

interface CanvasUser {
  readonly id: number
  readonly sis?: string
  readonly first: string
  readonly last: string
  readonly email?: string
}

interface CanvasCourse {
  readonly id: number
  readonly sis?: string
  readonly name: string
  readonly term?: number
  readonly sections?: readonly { readonly id: number; readonly sis?: string; readonly name: string }[]
}

interface CanvasEnrollment {
  readonly course: number
  readonly user: number
  readonly type?: 'StudentEnrollment' | 'TeacherEnrollment' | 'ObserverEnrollment' | 'StudentViewEnrollment'
  readonly state?: 'active' | 'invited' | 'completed' | 'inactive'
  readonly section?: number
  /** True if the token does not see it. */
  readonly isHidden?: true
}

interface CanvasScore {
  readonly course: number
  readonly user: number
  readonly assignment: { readonly id: number; readonly name: string; readonly points: number }
  readonly score: number | null
  readonly gradedAt: string
  readonly isPosted?: boolean
}

/** How a Canvas answers. */
export interface CanvasOptions {
  /** Items on a page at most; Canvas allows 100. */
  readonly pageSize?: number
  /** True for the token of a teacher, who may not list the account. */
  readonly isTeacher?: boolean
  /** True for a token that may not see the ids of the SIS. */
  readonly hidesSis?: boolean
  /** Called before each response; a response takes the place of the real one. */
  readonly before?: (request: FakeRequest) => FakeResponse | undefined | Promise<FakeResponse | undefined>
}

const unauthorized = {
  status: 'unauthorized',
  errors: [{ message: 'user not authorized to perform that action' }],
}

/**
 * A Canvas with the responses of its REST API (canvas-lms doc/api/{pagination,throttling}.md and its controllers for
 * accounts, courses, sections, enrollments, groups and submissions).
 */
export function fakeCanvas(school: CanvasSchool, options: CanvasOptions = {}): FakeSystem {
  const { users, courses, enrollments, terms = [], scores = [] } = school
  const sis = (name: string, value: string | undefined) => (options.hidesSis ? {} : { [name]: value ?? null })
  const userById = new Map(users.map((user) => [user.id, user]))
  const visible = enrollments.filter(({ isHidden }) => !isHidden)
  const visibleByCourse = Map.groupBy(visible, ({ course }) => course)
  const allByCourse = Map.groupBy(enrollments, ({ course }) => course)
  const defaultTerm = {
    id: 1,
    name: 'Default Term',
    ...sis('sis_term_id', undefined),
    workflow_state: 'active',
  }

  const shownUser = (user: CanvasUser, withEmail: boolean) => ({
    id: user.id,
    name: `${user.first} ${user.last}`,
    sortable_name: `${user.last}, ${user.first}`,
    first_name: user.first,
    last_name: user.last,
    short_name: `${user.first} ${user.last}`,
    ...sis('sis_user_id', user.sis),
    login_id: user.first.toLowerCase(),
    ...(withEmail && { email: user.email ?? `${user.first.toLowerCase()}@school.example` }),
  })
  const shownTerm = (term: (typeof terms)[number]) => ({
    ...{ id: term.id, name: term.name, workflow_state: 'active' },
    ...{ start_at: '2026-01-01T00:00:00Z', end_at: '2026-06-30T00:00:00Z' },
    ...sis('sis_term_id', term.sis),
  })
  const shownCourse = (course: CanvasCourse) => ({
    id: course.id,
    name: course.name,
    course_code: course.name,
    workflow_state: 'available',
    ...sis('sis_course_id', course.sis),
    term: terms.filter(({ id }) => id === course.term).map(shownTerm)[0] ?? defaultTerm,
    total_students: (allByCourse.get(course.id) ?? []).filter(
      ({ type = 'StudentEnrollment', state = 'active' }) =>
        type === 'StudentEnrollment' && (state === 'active' || state === 'invited'),
    ).length,
  })
  const shownEnrollment = (one: CanvasEnrollment, index: number) => ({
    id: index + 1,
    course_id: one.course,
    user_id: one.user,
    type: one.type ?? 'StudentEnrollment',
    role: one.type ?? 'StudentEnrollment',
    enrollment_state: one.state ?? 'active',
    course_section_id: one.section ?? one.course * 1000,
    ...sis('sis_user_id', userById.get(one.user)?.sis),
  })

  function listOf(path: string): readonly unknown[] | undefined {
    const [, account, of = '', id = '', below = ''] =
      /^\/api\/v1\/(?:accounts\/self\/(\w+)|(courses|groups)(?:\/(\d+)\/([\w/]+))?)$/.exec(path) ?? []
    const number = Number(id)
    if (account !== undefined) {
      if (account === 'terms') return [defaultTerm, ...terms.map(shownTerm)]
      if (account === 'users') return users.map((user) => shownUser(user, true))
      if (account === 'courses') return courses.map(shownCourse)
      return account === 'groups' ? [] : undefined
    }
    if (of === 'courses' && id === '') return courses.map(shownCourse)
    const course = courses.find((each) => of === 'courses' && each.id === number)
    if (!course) return undefined
    const inCourse = visibleByCourse.get(number) ?? []
    if (below === 'sections') {
      const standard = {
        id: number * 1000,
        course_id: number,
        name: course.name,
        ...sis('sis_section_id', undefined),
      }
      const more = (course.sections ?? []).map(({ id, sis: sisId, name }) => ({
        ...{ id, course_id: number, name, ...sis('sis_section_id', sisId) },
      }))
      return [standard, ...more]
    }
    if (below === 'enrollments') return inCourse.map(shownEnrollment)
    if (below === 'users') {
      const ids = new Set(inCourse.map(({ user }) => user))
      return users.filter((user) => ids.has(user.id)).map((user) => shownUser(user, true))
    }
    if (below !== 'students/submissions') return undefined
    return scores
      .filter((one) => one.course === number)
      .map(({ user, assignment, score, gradedAt, isPosted = true }, index) => ({
        ...{ id: index + 1, user_id: user, assignment_id: assignment.id, score, graded_at: gradedAt },
        ...{ workflow_state: 'graded', posted_at: isPosted ? gradedAt : null },
        assignment: { id: assignment.id, name: assignment.name, points_possible: assignment.points },
      }))
  }

  return async (request) => {
    const instead = await options.before?.(request)
    if (instead) return instead
    const { url, headers } = request
    if (headers['authorization'] !== `Bearer ${canvasToken}`) {
      const challenge = { 'www-authenticate': 'Bearer realm="canvas-lms"' }
      return json({ errors: [{ message: 'Invalid access token.' }] }, 401, challenge)
    }
    if (url.pathname === '/api/v1/users/self') return json({ id: 1, name: 'Admin' })
    if (options.isTeacher && url.pathname.startsWith('/api/v1/accounts/')) return json(unauthorized, 401)
    const list = listOf(url.pathname)
    if (!list) return json({ errors: [{ message: 'The specified resource does not exist.' }] }, 404)
    return pageOf(list, url, options.pageSize ?? 100)
  }
}

/** Returns a page with the headers of Canvas: the next page is named by an opaque bookmark. */
function pageOf(list: readonly unknown[], url: URL, most: number): FakeResponse {
  const size = Math.min(most, Number(url.searchParams.get('per_page') ?? 10))
  const bookmark = url.searchParams.get('page') ?? ''
  const from =
    bookmark === '' ? 0 : Number(Buffer.from(bookmark.replace('bookmark:', ''), 'base64').toString())
  const links = [`<${url}>; rel="current"`]
  if (from + size < list.length) {
    const next = new URL(url)
    next.searchParams.set('page', `bookmark:${Buffer.from(String(from + size)).toString('base64')}`)
    links.push(`<${next}>; rel="next"`)
  }
  const page = list.slice(from, from + size)
  const isTerms = url.pathname.endsWith('/terms')
  return json(isTerms ? { enrollment_terms: page } : page, 200, {
    link: links.join(','),
    'x-rate-limit-remaining': '600.0',
    'x-request-cost': '0.2',
  })
}
