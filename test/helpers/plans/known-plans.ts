/** Patterns of statements, each with the reason why its plan is acceptable. */
type Known = readonly (readonly [RegExp, string])[]

/** Statements whose cost grows with the rows that they must read. */
const acceptedStatements: Known = [
  [/from progress p where .*p\.user_id = \S+ .*order by p\./, 'a learner has a row for each course at most'],
  [/from counter_changes\) k where .* and course_id = \S+ group by/, 'a course has some hundred counters'],
  [
    /counter_changes\) k where kind in \S+ .*course_id (?:<> ''|in \(select id from courses where)/,
    'there are some thousand courses, with some counters each',
  ],
  [/from webhook_endpoints e? ?where/, 'there are some dozens of endpoints'],
  [/from courses where id in \(select id from courses where/, 'there are some thousand courses'],
  [/courses c cross join progress p .*p\.course_id = c\.id/, 'a period is read course by course'],
  [/u\.email >= \S+ and u\.email <= \S+/, 'learner data of 50,000 users at most'],
  [
    /select 1 from courses c cross join enrollments e /,
    'counters tell that these are few, or the limit is reached',
  ],
  [
    /from \(select distinct m\.user_id from group_members m where .*\) k cross join users u/,
    'the members of some groups: few for a page, all of them for a summary',
  ],
  [/select e\.user_id from courses c cross join enrollments e where/, 'courses are found by an index or few'],
  [/count\(distinct e\.user_id\) as learners/, 'no counter tells who is in several courses of a filter'],
  [
    /with found as materialized .*e\.status in/,
    'no counter knows statuses: their figures are those of all their rows',
  ],
  [/with graded as \(\s*select g\.item_id/, 'a page reads the grades of its courses'],
  [
    / from courses c where .*c\.term_id in .* order by c\.title_key, c\.id limit/,
    'there are some thousand courses',
  ],
  [/ as period, .* group by /, 'a report of activity reads what happened in its courses'],
  [/string_agg\(/, 'an export reads all that is exported'],
  [/delete from idempotency .* limit \S+\)/, 'erasure looks through the answers of one day'],
  [/update changes set source = null/, 'erasure looks through the sources of changes'],
  [
    /from webhook_messages where due_at is not null and subject = /,
    'erasure looks through what waits to be sent',
  ],
  [/email_key = \S+ or username = \S+/, 'two users at most have it'],
  [/from webhook_deliveries order by received_at desc, id desc limit \S+\) recent/, 'the newest thousand'],
  [/ from integrations i /, 'there is one for each kind of system'],
  [/update enrollments set user_email = \(select/, 'a course is restored with all its enrolments'],
  [/from group_members m order by m\.id (?:asc|desc) limit 1 offset \S+$/, 'rows are in the order of ids'],
  [
    /select count\(\*\) as total from \( ?select 1 from (?:users u|courses c|terms t|(?:deleted_)?enrollments e|grades g) /,
    'a total of OneRoster is exact up to 100,000 rows',
  ],
  [/^[^:]*: with recursive items \(item_id\)/, 'a course has some hundred items'],
  [/from courses where term_id is null limit/, 'there are some thousand courses'],
  [/from browser_sessions r where r\.user_id = /, 'a user has some dozens of sessions'],
  [
    /from deleted_progress_steps r join deleted_progress p /,
    'the history of one enrolment is sorted at a time',
  ],
  [/from deleted_grade_steps r join deleted_grades g /, 'the history of one grade is sorted at a time'],
  [
    /from webhook_deliveries r where r\.user_id is null and r\.learner_hint in /,
    'what waits for one learner',
  ],
  [/ where false/, 'no row is looked at'],
  [
    /^cost [1-3]?\d{1,5}: .*case when .*exists \( ?select 1 from (?:enrollments seen|group_members m|courses c) where .* then 1 else 0 end = 1 /,
    'a page looks at 20,000 rows at most: each takes a lookup of a membership, an enrolment or a course by an index, and each course that the caller created one of their enrolment',
  ],
  [
    /^cost \d{1,5}: .*case when \(select status from users where id = m\.user_id\) <> 'deleted'.* then 1 else 0 end = 1 /,
    'a page looks at 20,000 rows at most: each takes a lookup of a user',
  ],
]

/** Statements of lists on tables smaller than a page's limit; plans.test.ts checks them on large tables. */
const acceptedOnSmallTables: Known = [
  [/in \( ?select cursor_id from \(/, 'the rows of a filter that leaves few: they were counted before'],
  [/case when .* then 1 else 0 end = 1 order by [^()]* limit \S+$/, 'a page of them'],
  [
    /count\(\*\) as total from \( ?select 1 from (?!.* (?:or|union) ).* limit \S+\) found$/,
    'a total of them',
  ],
]

/** Returns the faults that no known statement explains; each fault ends with the text of its statement. */
export function unknownFaults(faults: readonly string[], isSmall = false): string[] {
  const reasons = isSmall ? [...acceptedStatements, ...acceptedOnSmallTables] : acceptedStatements
  return faults.filter((fault) => !reasons.some(([pattern]) => pattern.test(fault)))
}
