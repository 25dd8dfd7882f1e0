/** Patterns of statements, each with the reason why its plan is acceptable. */
type Known = readonly (readonly [RegExp, string])[]

/** Statements whose cost grows with the rows that they must read. */
const acceptedStatements: Known = [
  [/from progress p where .*p\.user_id = \S+ .*order by p\./, 'a learner has a row for each course at most'],
  [/from pragma_data_version/, 'one row'],
  [/from webhook_endpoints e? ?where/, 'there are some dozens of endpoints'],
  [/from courses where id in \(select id from courses where/, 'there are some thousand courses'],
  [/courses c cross join progress p .*p\.course_id = c\.id/, 'a period is read course by course'],
  [
    /from \(select distinct m\.user_id from group_members m where .*\) k cross join users u/,
    'the members of some groups: few for a page, all of them for a summary',
  ],
  [/select e\.user_id from courses c cross join enrollments e where/, 'courses are found by an index or few'],
  [/count\(distinct e\.user_id\) as learners/, 'a figure of learners reads all of them'],
  [
    /with enrolled as materialized (?!.*\bc\.id in )/,
    'figures of the whole academy read all of its rows, by the worker: about 6 s for a million enrolments',
  ],
  [/with graded as \(\s*select g\.item_id/, 'a page reads the grades of its courses'],
  [
    / from courses c where .*c\.term_id in .* order by c\.title_key, c\.id limit/,
    'there are some thousand courses',
  ],
  [/ as period, .* group by /, 'a report of activity reads what happened in its courses'],
  [/ order by u\.email, u\.id, c\.title, c\.id$/, 'an export reads all that is exported'],
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
  [
    /select count\(\*\) as total from (?:users u|courses c|terms t|(?:deletions d cross join deleted_)?enrollments e|grades g)\b/,
    'a total of OneRoster counts its rows',
  ],
  [/ limit \S+ offset \S+$/, 'a page of OneRoster begins at its offset'],
  [
    /select count\(\*\) as total from \( ?select 1 from (?:users u|enrollments e|grades g) /,
    'a total reads up to 10,000 rows, and looks for them where no index helps',
  ],
  [/^[^:]*: with recursive items \(item_id\)/, 'a course has some hundred items'],
  [/from courses where (?:difficulty in .*|term_id is null) limit/, 'there are some thousand courses'],
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
    / from (?:users u|courses c) cross join (?:users u cross join )?enrollments e cross join (?:courses c|users u) left join progress p .*(?: limit \S+|\) found)$/,
    'learner data is read by the worker: 3 s for a million enrolments if few match',
  ],
  [
    / from webhook_messages m where m\.id > '' and .*m\.(?:type|status) in /,
    'read by the worker: messages are kept for some days',
  ],
  [
    /^cost \d+: .* from groups where .*groups\.id in \( ?select id from groups where /,
    'the groups of the learners of an instructor are read to sort them',
  ],
  [
    /^SCAN u USING INDEX users_by_\w+: .* from users u where case when .* limit \?$/,
    'text, or another time than that of the order: 40 ms for 100,000 users',
  ],
  [
    /^SCAN [eg] USING INDEX \w+_by_\w+_at: .* from (?:enrollments e|grades g) where case when .*(?:updated_at|graded_at|enrolled_at) (?:>=|<) \? then 1 else 0 end = 1 order by /,
    'another time than that of the order, which more than 2,000 rows have: 0.3 s for a million rows if these are the last',
  ],
  [
    /^SCAN [eg] USING INDEX \w+_by_\w+_at: .*case when .*exists \( ?select 1 from group_members m where .* order by /,
    'a group with more than 2,000 records: 0.4 s for a million rows if these are the last',
  ],
  [
    / from enrollments e left join progress p on .* order by e\.created_at asc, e\.id asc limit \S+$/,
    'read by the worker: 4.6 s for a million enrolments if none has progress in the period',
  ],
  [
    / from group_members m where .*\(select status from users where id = m\.user_id\) <> 'deleted'(?! .*\bm\.(?:user_id|group_id) )/,
    'nearly all users are not deleted, and ids are in the order of the times',
  ],
]

/** Statements of lists on tables smaller than a page's limit; plans.test.ts checks them on large tables. */
const acceptedOnSmallTables: Known = [
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
