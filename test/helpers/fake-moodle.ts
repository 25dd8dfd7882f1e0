import { type FakeRequest, type FakeResponse, type FakeSystem, json } from './fake-system.ts'

/** Token that the Moodle of the tests accepts. */
export const moodleToken = 'moodle-token-of-the-tests'

/** What a Moodle has; ids are its own. */
export interface MoodleSchool {
  readonly users: readonly MoodleUser[]
  readonly courses: readonly { readonly id: number; readonly shortname: string; readonly fullname: string }[]
  readonly enrollments: readonly {
    readonly course: number
    readonly user: number
    /** Short names of roles (default student). */
    readonly roles?: readonly string[]
    readonly isSuspended?: boolean
    readonly groups?: readonly number[]
    /** True if the token may not see the person. */
    readonly isHidden?: boolean
  }[]
  readonly groups?: readonly { readonly id: number; readonly course: number; readonly name: string }[]
  readonly cohorts?: readonly {
    readonly id: number
    readonly name: string
    readonly users: readonly number[]
  }[]
  readonly grades?: readonly MoodleGrade[]
}

interface MoodleUser {
  readonly id: number
  readonly idnumber?: string
  readonly username: string
  readonly first: string
  readonly last: string
}

interface MoodleGrade {
  readonly course: number
  readonly user: number
  readonly item: { readonly id: number; readonly name: string; readonly type: 'mod' | 'course' | 'category' }
  readonly raw: number | null
  readonly max: number
  /** Seconds since 1970. */
  readonly gradedAt: number | null
}

/** How a Moodle answers. */
interface MoodleOptions {
  /** Functions that the service of the token lacks. */
  readonly lacks?: readonly string[]
  /** Capabilities that the token lacks. */
  readonly withoutCapability?: readonly string[]
  /** Called before each response; a response takes the place of the real one. */
  readonly before?: (request: FakeRequest) => FakeResponse | undefined | Promise<FakeResponse | undefined>
}

/** The front page of a site, which is a course as well. */
const site = {
  id: 1,
  shortname: 'school',
  fullname: 'School',
  format: 'site',
  visible: 1,
  summary: '',
  lang: '',
}

const failures = {
  invalidtoken: ['core\\exception\\moodle_exception', 'Invalid token - token not found'],
  accessexception: ['webservice_access_exception', 'Access control exception'],
  nopermissions: [
    'required_capability_exception',
    'Sorry, but you do not currently have permissions to do that',
  ],
  invalidrecord: ['dml_missing_record_exception', 'Cannot find data record in database'],
} as const

function failure(errorcode: keyof typeof failures): FakeResponse {
  const [exception, message] = failures[errorcode]
  return json({ exception, errorcode, message })
}

/**
 * A Moodle with the responses of its web services, errors with status 200 (moodle/moodle lib/external/classes,
 * course/externallib.php, enrol/externallib.php, group/externallib.php, cohort/externallib.php and
 * grade/report/user/classes/external/user.php).
 */
export function fakeMoodle(school: MoodleSchool, options: MoodleOptions = {}): FakeSystem {
  const { users, courses, enrollments, groups = [], cohorts = [], grades = [] } = school
  const { lacks = [], withoutCapability = [] } = options

  const peopleIn = (course: number, sent: URLSearchParams) => {
    const option = (name: string) => {
      const [at] = [...sent].find(([, value]) => value === name) ?? []
      return at === undefined ? null : sent.get(at.replace('[name]', '[value]'))
    }
    const onlyActive = option('onlyactive') === '1'
    if (onlyActive && withoutCapability.includes('moodle/course:enrolreview')) return failure('nopermissions')
    const all = enrollments.filter((one) => one.course === course && !(onlyActive && one.isSuspended))
    const ordered = all.toSorted((one, other) => one.user - other.user)
    const from = Number(option('limitfrom') ?? 0)
    const page = ordered.slice(from, from + Number(option('limitnumber') || ordered.length))
    // People whom the token may not see are left out of their page.
    return json(page.filter(({ isHidden }) => !isHidden).map(shownPerson))
  }
  const shownPerson = ({
    user,
    roles = ['student'],
    groups: own = [],
  }: MoodleSchool['enrollments'][number]) => {
    const found = users.find(({ id }) => id === user)
    return {
      id: user,
      username: found?.username,
      firstname: found?.first,
      lastname: found?.last,
      fullname: `${found?.first} ${found?.last}`,
      email: `${found?.username}@school.example`,
      idnumber: found?.idnumber ?? '',
      suspended: false,
      groups: groups
        .filter(({ id }) => own.includes(id))
        .map(({ id, name }) => ({ id, name, description: '' })),
      roles: roles.map((shortname, index) => ({ roleid: index + 1, name: '', shortname, sortorder: 0 })),
    }
  }
  const shownGrades = (course: number) => ({
    usergrades: users.map((user) => ({
      ...{
        courseid: course,
        userid: user.id,
        userfullname: user.first,
        useridnumber: user.idnumber ?? '',
        maxdepth: 2,
      },
      gradeitems: grades
        .filter((one) => one.course === course && one.user === user.id)
        .map(({ item, raw, max, gradedAt }) => ({
          ...{ id: item.id, itemname: item.name, itemtype: item.type, scaleid: null, graderaw: raw },
          ...{ gradedategraded: gradedAt, gradeishidden: false, grademin: 0, grademax: max },
        })),
    })),
    warnings: [],
  })

  return async (request) => {
    const instead = await options.before?.(request)
    if (instead) return instead
    const sent = new URLSearchParams(request.body || request.url.search)
    if (sent.get('wstoken') !== moodleToken) return failure('invalidtoken')
    const name = sent.get('wsfunction') ?? ''
    if (lacks.includes(name)) return failure('accessexception')
    const course = Number(sent.get('courseid'))
    switch (name) {
      case 'core_webservice_get_site_info':
        return json({
          ...{ sitename: 'School', username: 'learnctl', fullname: 'Learnctl', userid: 2 },
          functions: known
            .filter((each) => !lacks.includes(each))
            .map((each) => ({ name: each, version: '2026' })),
        })
      case 'core_course_get_courses':
        return json([
          site,
          ...courses.map((each) => ({
            ...each,
            format: 'topics',
            visible: 1,
            summary: '',
            lang: '',
            idnumber: '',
          })),
        ])
      case 'core_enrol_get_enrolled_users':
        return courses.some(({ id }) => id === course) ? peopleIn(course, sent) : failure('invalidrecord')
      case 'core_group_get_course_groups':
        return json(
          groups
            .filter((one) => one.course === course)
            .map(({ id, name }) => ({ id, courseid: course, name })),
        )
      case 'core_cohort_get_cohorts':
        return json(cohorts.map(({ id, name }) => ({ id, name, idnumber: '', description: '' })))
      case 'core_cohort_get_cohort_members': {
        const cohort = cohorts.find(({ id }) => id === Number(sent.get('cohortids[0]')))
        return json([{ cohortid: cohort?.id, userids: cohort?.users }])
      }
      case 'gradereport_user_get_grade_items':
        return json(shownGrades(course))
      default:
        return failure('accessexception')
    }
  }
}

const known = [
  'core_webservice_get_site_info',
  'core_course_get_courses',
  'core_enrol_get_enrolled_users',
  'core_group_get_course_groups',
  'core_cohort_get_cohorts',
  'core_cohort_get_cohort_members',
  'gradereport_user_get_grade_items',
]

/** A Moodle with one course. */
export const smallMoodle = fakeMoodle({
  users: [],
  courses: [{ id: 4, shortname: 'BIO-101', fullname: 'Biology' }],
  enrollments: [],
})
