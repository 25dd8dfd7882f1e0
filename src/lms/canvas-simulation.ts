import { nameBy, type SimulatedEvents, type SimulatedFacts, type SimulatedName } from './simulated-event.ts'

const shardSize = 10n ** 13n
/** Shard of a hosted school, as in Canvas's examples. */
const shard = 2107n
const host = 'canvas.example.org'
const rootAccount = globalId('1')
/** Ids for everything that the flags do not set. */
const defaultIds = { user: '48', course: '565', item: '355', grader: '987' }

export const canvasEvents: SimulatedEvents = {
  grade_change: {
    summary: 'A submission was graded',
    takes: ['item', 'score', 'maximum', 'published'],
    namesUser: ['id', 'externalId'],
    namesCourse: ['id', 'externalId'],
    payload: (facts) => {
      const student = globalId(idOf(facts.user, defaultIds.user))
      const course = idOf(facts.course, defaultIds.course)
      const item = facts.item ?? defaultIds.item
      return {
        metadata: {
          ...metadata(facts, 'grade_change'),
          context_account_id: rootAccount,
          context_id: globalId(course),
          context_role: 'TeacherEnrollment',
          context_sis_source_id: nameBy(facts.course, 'externalId'),
          context_type: 'Course',
          url: `https://${host}/courses/${course}/gradebook/update_submission`,
          user_account_id: rootAccount,
          user_id: globalId(defaultIds.grader),
        },
        body: {
          assignment_id: globalId(item),
          grade: String(facts.score),
          grader_id: globalId(defaultIds.grader),
          grading_complete: true,
          muted: !facts.published,
          old_grade: null,
          old_points_possible: facts.maximum,
          old_score: null,
          points_possible: facts.maximum,
          score: facts.score,
          student_id: student,
          student_sis_id: nameBy(facts.user, 'externalId'),
          submission_id: globalId('11086'),
          user_id: student,
        },
      }
    },
  },
  course_grade_change: {
    summary: 'The grade of a learner in a course changed (a percentage)',
    takes: ['score'],
    namesUser: ['id'],
    namesCourse: ['id', 'externalId'],
    payload: (facts) => {
      const course = idOf(facts.course, defaultIds.course)
      return {
        metadata: {
          ...metadata(facts, 'course_grade_change'),
          context_id: globalId(course),
          context_sis_source_id: nameBy(facts.course, 'externalId'),
          context_type: 'Course',
          user_id: globalId(defaultIds.grader),
        },
        body: {
          user_id: idOf(facts.user, defaultIds.user),
          course_id: course,
          workflow_state: 'active',
          created_at: facts.at.toISOString(),
          updated_at: facts.at.toISOString(),
          current_score: facts.score,
          final_score: facts.score,
          unposted_current_score: facts.score,
          unposted_final_score: facts.score,
        },
      }
    },
  },
  course_progress: {
    summary: 'A learner met a requirement of a course',
    takes: ['percentage'],
    namesUser: ['id', 'email'],
    namesCourse: ['id', 'externalId'],
    payload: (facts) => progressPayload(facts, 'course_progress', facts.percentage),
  },
  course_completed: {
    summary: 'A learner met the last requirement of a course',
    takes: [],
    namesUser: ['id', 'email'],
    namesCourse: ['id', 'externalId'],
    payload: (facts) => progressPayload(facts, 'course_completed', 100),
  },
  caliper_grade: {
    summary: 'A submission was graded, in the Caliper 1.1 format (not as a signed JWT)',
    takes: ['item', 'score', 'maximum'],
    namesUser: ['id', 'externalId'],
    namesCourse: ['id'],
    payload: (facts) => {
      const urn = (noun: string, id: string) => `urn:instructure:canvas:${noun}:${globalId(id)}`
      return {
        sensor: `https://${host}/`,
        sendTime: facts.at.toISOString(),
        dataVersion: 'http://purl.imsglobal.org/ctx/caliper/v1p1',
        data: [
          {
            '@context': 'http://purl.imsglobal.org/ctx/caliper/v1p1',
            id: `urn:uuid:${facts.serial}`,
            type: 'GradeEvent',
            actor: { id: urn('user', defaultIds.grader), type: 'Person' },
            action: 'Graded',
            object: {
              id: urn('submission', '11086'),
              type: 'Attempt',
              assignee: {
                id: urn('user', idOf(facts.user, defaultIds.user)),
                type: 'Person',
                extensions: { 'com.instructure.canvas': { sis_id: nameBy(facts.user, 'externalId') } },
              },
              assignable: {
                id: urn('assignment', facts.item ?? defaultIds.item),
                type: 'AssignableDigitalResource',
              },
            },
            eventTime: facts.at.toISOString(),
            generated: { type: 'Score', maxScore: facts.maximum, scoreGiven: facts.score },
            group: { id: urn('course', idOf(facts.course, defaultIds.course)), type: 'CourseOffering' },
          },
        ],
      }
    },
  },
}

function progressPayload(facts: SimulatedFacts, name: string, percentage: number) {
  // A number of requirements that makes any percentage with two decimals a whole number of them.
  const all = Number.isInteger(percentage) ? 100 : 10_000
  return {
    metadata: metadata(facts, name),
    body: {
      course: {
        account_id: '1',
        id: idOf(facts.course, defaultIds.course),
        name: 'Simulated course',
        sis_source_id: nameBy(facts.course, 'externalId'),
      },
      progress: {
        completed_at: percentage === 100 ? facts.at.toISOString() : null,
        next_requirement_url: null,
        requirement_completed_count: Math.round((percentage / 100) * all),
        requirement_count: all,
      },
      user: {
        email: nameBy(facts.user, 'email'),
        id: idOf(facts.user, defaultIds.user),
        name: 'Simulated learner',
      },
    },
  }
}

function metadata({ account = 'simulated-account', at, serial }: SimulatedFacts, name: string) {
  return {
    event_name: name,
    event_time: at.toISOString(),
    hostname: host,
    producer: 'canvas',
    request_id: serial,
    root_account_id: rootAccount,
    root_account_lti_guid: `${account}.${host}`,
    root_account_uuid: account,
  }
}

function idOf(name: SimulatedName, other: string): string {
  return nameBy(name, 'id') ?? other
}

/** Events have global ids; an id that is not a number stays unchanged. */
function globalId(id: string): string {
  if (!/^\d{1,19}$/.test(id)) return id
  const number = BigInt(id)
  return String(number < shardSize ? shard * shardSize + number : number)
}
