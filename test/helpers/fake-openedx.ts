import { type FakeRequest, type FakeResponse, type FakeSystem, json } from './fake-system.ts'

/** JSON Web Token that the Open edX of the tests accepts; nothing verifies it. */
export const openedxToken = 'eyJhbGciOiJub25lIn0.eyJ1c2VyIjoiYWRtaW4ifQ.c2lnbmF0dXJl'

/** What an Open edX has. */
export interface OpenedxSchool {
  readonly courses: readonly { readonly key: string; readonly name: string }[]
  readonly enrollments: readonly {
    readonly course: string
    readonly user: string
    readonly isActive?: boolean
    /** Share of the grade, 0 to 1. */
    readonly percent?: number
  }[]
}

/** How an Open edX answers. */
interface OpenedxOptions {
  readonly pageSize?: number
  /** True for a user who is not global staff. */
  readonly isNoStaff?: boolean
  readonly before?: (request: FakeRequest) => FakeResponse | undefined | Promise<FakeResponse | undefined>
}

/**
 * An Open edX with the responses of its REST APIs (openedx/openedx-platform lms/djangoapps/course_api/views.py,
 * lms/djangoapps/grades/rest_api/v1/views.py and openedx/core/djangoapps/enrollments/views.py): pages of courses by
 * number, of grades by cursor.
 */
export function fakeOpenedx(
  { courses, enrollments }: OpenedxSchool,
  options: OpenedxOptions = {},
): FakeSystem {
  const grades = (key: string) =>
    enrollments
      .filter(({ course, isActive = true }) => course === key && isActive)
      .map(({ course, user, percent = 0 }) => ({
        ...{ username: user, email: `${user}@school.example`, course_id: course },
        ...{ passed: percent >= 0.5, percent, letter_grade: percent >= 0.5 ? 'Pass' : null },
      }))

  return async (request) => {
    const instead = await options.before?.(request)
    if (instead) return instead
    const { url, headers } = request
    if (headers['authorization'] !== `JWT ${openedxToken}`) {
      return json({ detail: 'Error decoding token: Signature has expired' }, 401, {
        'www-authenticate': 'JWT realm="api"',
      })
    }
    const page = (list: readonly unknown[], by: 'page' | 'cursor') =>
      pageOf(list, url, by, options.pageSize ?? 100)
    const [, key = ''] = /^\/api\/grades\/v1\/courses\/([^/]+)\/$/.exec(url.pathname) ?? []
    if (url.pathname === '/api/user/v1/me') return json({ username: 'admin' })
    if (url.pathname === '/api/courses/v1/courses/') {
      const shown = courses.map(({ key, name }) => ({ id: key, course_id: key, name, hidden: false }))
      const { results, next, count } = page(shown, 'page')
      return json({ results, pagination: { next, previous: null, count, num_pages: 1 } })
    }
    if (key !== '') return json(page(grades(decodeURIComponent(key)), 'cursor'))
    if (url.pathname !== '/api/enrollment/v1/enrollments') return json({ detail: 'Not found.' }, 404)
    if (options.isNoStaff) return json({ detail: 'You do not have permission to perform this action.' }, 403)
    const own = enrollments.filter(({ course }) => course === url.searchParams.get('course_id'))
    const shown = own.map(({ course, user, isActive = true }) => ({
      ...{ created: '2026-01-10T09:00:00Z', mode: 'honor', is_active: isActive, user, course_id: course },
    }))
    return json(page(shown, 'page'))
  }
}

function pageOf(list: readonly unknown[], url: URL, by: 'page' | 'cursor', most: number) {
  const size = Math.min(most, Number(url.searchParams.get('page_size') ?? 10))
  const given = url.searchParams.get(by)
  const number = given === null ? 1 : Number(by === 'page' ? given : Buffer.from(given, 'base64').toString())
  const from = (number - 1) * size
  const next = new URL(url)
  next.searchParams.set(
    by,
    by === 'page' ? String(number + 1) : Buffer.from(String(number + 1)).toString('base64'),
  )
  const hasMore = from + size < list.length
  return {
    count: list.length,
    next: hasMore ? String(next) : null,
    previous: null,
    results: list.slice(from, from + size),
  }
}
