import { type FakeSystem, json } from './fake-system.ts'

/** Token that the Moodle of the tests accepts. */
export const moodleToken = 'moodle-token-of-the-tests'

const site = { id: 1, shortname: 'school', fullname: 'School', format: 'site', visible: 1 }
const courses = [
  site,
  { id: 4, shortname: 'BIO-101', idnumber: 'bio', fullname: 'Biology', format: 'topics', visible: 1 },
]

/** A Moodle with the responses of its web services (moodle/moodle course/externallib.php, lib/externallib.php). */
export const fakeMoodle: FakeSystem = ({ body }) => {
  const sent = new URLSearchParams(body)
  if (sent.get('wstoken') !== moodleToken) {
    return json({
      exception: 'core\\exception\\moodle_exception',
      errorcode: 'invalidtoken',
      message: 'Invalid token - token not found',
    })
  }
  switch (sent.get('wsfunction')) {
    case 'core_webservice_get_site_info':
      return json({ sitename: 'School', username: 'learnctl', functions: [] })
    case 'core_course_get_courses':
      return json(courses)
    default:
      return json({
        exception: 'webservice_access_exception',
        errorcode: 'accessexception',
        message: 'Access control exception',
      })
  }
}
