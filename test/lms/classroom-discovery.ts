/** A method of the Classroom API. */
export interface DiscoveredMethod {
  readonly method: string
  /** Path with its parameters in braces. */
  readonly path: string
  readonly query: readonly string[]
  /** Fields of the request's body; null without one. */
  readonly body: readonly string[] | null
}

const course = [
  ...['id', 'name', 'section', 'descriptionHeading', 'description', 'room', 'ownerId', 'creationTime'],
  ...[
    'updateTime',
    'enrollmentCode',
    'courseState',
    'alternateLink',
    'teacherGroupEmail',
    'courseGroupEmail',
  ],
  ...['teacherFolder', 'courseMaterialSets', 'guardiansEnabled', 'calendarId'],
]
const courseWork = [
  ...['courseId', 'id', 'title', 'description', 'materials', 'state', 'alternateLink', 'creationTime'],
  ...[
    'updateTime',
    'dueDate',
    'dueTime',
    'scheduledTime',
    'maxPoints',
    'workType',
    'associatedWithDeveloper',
  ],
  ...['assigneeMode', 'individualStudentsOptions', 'submissionModificationMode', 'creatorUserId'],
  ...['assignment', 'multipleChoiceQuestion'],
]
const submission = [
  ...[
    'courseId',
    'courseWorkId',
    'id',
    'userId',
    'creationTime',
    'updateTime',
    'state',
    'late',
    'draftGrade',
  ],
  ...['assignedGrade', 'alternateLink', 'courseWorkType', 'associatedWithDeveloper', 'submissionHistory'],
  ...['assignmentSubmission', 'shortAnswerSubmission', 'multipleChoiceSubmission'],
]
const paging = ['pageSize', 'pageToken']
const works = '/v1/courses/{courseId}/courseWork'
const submissions = `${works}/{courseWorkId}/studentSubmissions`

/**
 * The methods that this program uses, after Google's discovery document of Classroom v1: revision 20180807
 * (google-api-go-client, classroom/v1/classroom-api.json, in pohly/google-api-go-client@7954115f). Fields that later revisions
 * added are missing. test/foreign/google-classroom.test.ts compares the requests with those of Google's client library.
 */
export const classroomMethods: Readonly<Record<string, DiscoveredMethod>> = {
  'courses.create': { method: 'POST', path: '/v1/courses', query: [], body: course },
  'courses.get': { method: 'GET', path: '/v1/courses/{id}', query: [], body: null },
  'courses.list': {
    ...{ method: 'GET', path: '/v1/courses' },
    ...{ query: ['studentId', 'teacherId', 'courseStates', ...paging], body: null },
  },
  'courses.patch': { method: 'PATCH', path: '/v1/courses/{id}', query: ['updateMask'], body: course },
  'courses.aliases.list': {
    method: 'GET',
    path: '/v1/courses/{courseId}/aliases',
    query: paging,
    body: null,
  },
  'courses.students.create': {
    ...{ method: 'POST', path: '/v1/courses/{courseId}/students' },
    ...{ query: ['enrollmentCode'], body: ['courseId', 'userId', 'profile', 'studentWorkFolder'] },
  },
  'courses.students.list': {
    method: 'GET',
    path: '/v1/courses/{courseId}/students',
    query: paging,
    body: null,
  },
  'courses.teachers.create': {
    ...{ method: 'POST', path: '/v1/courses/{courseId}/teachers' },
    ...{ query: [], body: ['courseId', 'userId', 'profile'] },
  },
  'courses.teachers.list': {
    method: 'GET',
    path: '/v1/courses/{courseId}/teachers',
    query: paging,
    body: null,
  },
  'courses.courseWork.create': { method: 'POST', path: works, query: [], body: courseWork },
  'courses.courseWork.list': {
    ...{ method: 'GET', path: works },
    ...{ query: ['courseWorkStates', 'orderBy', ...paging], body: null },
  },
  'courses.courseWork.patch': {
    method: 'PATCH',
    path: `${works}/{id}`,
    query: ['updateMask'],
    body: courseWork,
  },
  'courses.courseWork.studentSubmissions.get': {
    ...{ method: 'GET', path: `${submissions}/{id}`, query: [], body: null },
  },
  'courses.courseWork.studentSubmissions.list': {
    ...{ method: 'GET', path: submissions },
    ...{ query: ['userId', 'states', 'late', ...paging], body: null },
  },
  'courses.courseWork.studentSubmissions.patch': {
    ...{ method: 'PATCH', path: `${submissions}/{id}`, query: ['updateMask'], body: submission },
  },
  'courses.courseWork.studentSubmissions.return': {
    ...{ method: 'POST', path: `${submissions}/{id}:return`, query: [], body: [] },
  },
  'invitations.create': {
    ...{ method: 'POST', path: '/v1/invitations', query: [] },
    body: ['id', 'userId', 'courseId', 'role'],
  },
  'invitations.list': {
    ...{ method: 'GET', path: '/v1/invitations' },
    ...{ query: ['userId', 'courseId', ...paging], body: null },
  },
  'userProfiles.get': { method: 'GET', path: '/v1/userProfiles/{userId}', query: [], body: null },
}

/** Returns the name of the method that a request calls, or why it is none of the document. */
export function discoveredName(method: string, target: string, body: unknown): string {
  const { pathname, searchParams } = new URL(target, 'https://classroom.googleapis.com')
  const isSame = (path: string) =>
    // A parameter is one segment: reserved characters in it are encoded.
    new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/:]+').replaceAll('/', '\\/')}$`).test(pathname)
  const found = Object.entries(classroomMethods).find(([, one]) => one.method === method && isSame(one.path))
  if (!found) return `no method: ${method} ${pathname}`
  const [name, { query, body: fields }] = found
  const parameter = [...searchParams.keys()].find((each) => !query.includes(each))
  if (parameter !== undefined) return `${name} has no parameter ${parameter}`
  if (fields === null) return body === undefined ? name : `${name} takes no body`
  const field = Object.keys(body as object).find((each) => !fields.includes(each))
  const masked = (searchParams.get('updateMask') ?? '').split(',').filter((each) => each !== '')
  const unknown = field ?? masked.find((each) => !fields.includes(each))
  return unknown === undefined ? name : `${name} has no field ${unknown}`
}
