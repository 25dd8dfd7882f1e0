import type { Words } from './schemas.ts'

export const tagWords = {
  courses:
    'A course is a draft, published or archived. It keeps all its versions, which can be compared and restored. A deleted course can be restored for 30 days.',
  lessons: 'The units of a course: content blocks and assessments, grouped by the modules of the course.',
  users: 'The users of the academy. Each has one role: admin, instructor, analyst or learner.',
  terms:
    'Terms: semesters, quarters or school years. A course belongs to one term at most; lists, reports and exports can be limited to the courses of a term.',
  enrollments:
    'Enrolments of learners and instructors in courses. There is at most one for each user, course and role.',
  groups:
    'Groups of users: the classes, sections and cohorts of a school. A group may belong to a course. A deleted group can be restored for 30 days.',
  progress:
    'The progress of learners in courses, with its history. An older record never replaces a newer one.',
  grades:
    'The grades of learners in courses, item by item. The grade of the course is calculated from them. An older grade never replaces a newer one.',
  analytics: 'Reports on learners in courses, as JSON, CSV or NDJSON, and as xAPI statements.',
  calendars:
    'Calendars in the form of iCalendar (RFC 5545), at secret addresses: the dates of a course, or of all courses of a user.',
  keys: 'API keys: credentials for programs. A key acts as its owner and is shown once.',
  apps: 'OAuth applications, which act on behalf of the users who allow it.',
  grants: 'The access that users have given to OAuth applications.',
  endpoints:
    'Webhook endpoints: where events are sent, signed as Standard Webhooks 1.0.0. An academy can have up to 50.',
  messages:
    'Webhook messages: one event for one endpoint, with the attempts to deliver it. They are kept for 7 days.',
  deliveries:
    'Webhook deliveries: grades and progress that other systems have sent, with the outcome of each. They are kept for 30 days.',
  integrations:
    'Connections to other learning management systems: their secrets, the effect of their grades, and the mapping of their courses and users.',
  audit:
    'The audit log: who did what, when, with which credential and from where. Each entry is linked to the one before by a hash, and no operation changes or deletes an entry.',
  changes:
    'Changes of many records that belong together, such as an import: who made them, what they did, and how they ended. Requests that name a change in the header `Change-Id` belong to it, so that it can be undone as a whole.',
  undo: 'The undoing of a change: what it would do, and doing it. Admins undo every change, others their own.',
  plans:
    'Writes that are kept aside and carried out together, in one transaction: all of them or none. Each needs the rights that it needs alone.',
  settings:
    'The settings of the academy. They apply to all servers and commands that use it, at once or within a second.',
  leases: 'The apply lease: an academy takes one apply of academy files or course files at a time.',
  service: 'Health check and API description. No credential is needed.',
} satisfies Words

/** Sentences in addition to the summaries. */
export const operationWords: Words = {
  'courses.list':
    'Learners get published courses only, instructors those that they teach, unless the setting `instructorAccess` is `all`. The newest come first, unless `sort` says otherwise; `sort=difficulty` goes from beginner to expert.',
  'courses.get': 'The `ETag` is the version of the course: send it as `If-Match` with an update.',
  'courses.create':
    'Only `title` is required. A course starts as a draft, unless `status` is `published`. The server assigns ids to the modules.',
  'courses.update':
    'Send what changes: absent attributes are left unchanged, null resets one to its default, and lists are replaced as a whole. The response names the modified attributes and the new version; an update that changes nothing makes no new version. A published course can become a draft again only while it has no progress, and an archived course accepts only a new status.',
  'courses.delete':
    'A course that has lessons or progress can be deleted only with `force=true`, which requires an admin with the scope `admin`. It can be restored for 30 days with all that was deleted with it; until then, its external id stays taken. With `erase=true` it is deleted permanently, also if it is deleted already.',
  'courses.versions': 'Every change of a course makes a version. Learners cannot read versions.',
  'courses.version': 'Returns the attributes as they were in that version.',
  'courses.diff':
    'Each entry is one place that differs, with its value in both versions. Without `to`, the version is compared with the current one.',
  'courses.restore':
    'The attributes are set back to those of the version. The id, the external id and the status are not changed.',
  'courses.listDeleted':
    'Courses that were deleted in the last 30 days, with how much was deleted with each.',
  'courses.restoreDeleted':
    'The course comes back as it was, with its lessons, versions, enrolments, progress and grades. Lessons that were deleted before the course stay deleted.',

  'lessons.list':
    'Learners get published lessons of published courses only, without the correct answers. The lessons of a course are in its order.',
  'lessons.get': 'Learners get the questions of assessments without the correct answers.',
  'lessons.create':
    'The course and the title are required. Without `order` the lesson is added after the last one. If the position is taken, the lessons from there on move down.',
  'lessons.update':
    'Send what changes: absent attributes are left unchanged, null resets one to its default, and lists are replaced as a whole. Blocks, assessments and questions sent with their id keep it.',
  'lessons.delete':
    'The lesson can be restored for 30 days; until then, its external id stays taken. With `erase=true` it is deleted permanently, also if it is deleted already. The lessons of an archived course cannot be deleted.',
  'lessons.versions': 'Every change of a lesson makes a version. Learners cannot read versions.',
  'lessons.version': 'Returns the attributes as they were in that version.',
  'lessons.diff':
    'Each entry is one place that differs, with its value in both versions. Without `to`, the version is compared with the current one.',
  'lessons.restore':
    'The attributes are set back to those of the version. The id, the external id, the status and the course are not changed.',
  'lessons.listDeleted':
    'Lessons that were deleted in the last 30 days, except those that were deleted with their course.',
  'lessons.restoreDeleted':
    'The lesson comes back at its position; if that is taken, the lessons from there on move down. If its module no longer exists, it has none.',

  'users.list':
    'Learners get themselves only, instructors also those with an enrolment in a course that they teach. Deleted users are left out, unless requested with `include_deleted=true` or `status=deleted`.',
  'users.get': 'Learners can read themselves only.',
  'users.create':
    'Only `email` is required. Instructors can create learners only, and see them once they are enrolled in a course that they teach. A 409 names the id of the user who already has the e-mail address, username or external id, if the caller can see that user.',
  'users.batch':
    'Each item succeeds or fails on its own. The response has one result for each item, in the same order. Items are matched by external id, else by e-mail address; `onExists` says what to do with users who already exist: `update` restores those who were deleted, unless the item has a `status`.',
  'users.update':
    'Send what changes: absent attributes are left unchanged, and null resets one to its default. Setting `status` to `active` restores a deleted user, without their API keys. A new password, a suspension or a deletion ends the sessions and grants of the user. Changing an admin requires the scope `admin`.',
  'users.delete':
    'A deleted user cannot sign in and can be restored; an erased one (`erase=true`) is anonymised permanently and cannot. API keys and grants are revoked permanently. Deleting an admin requires the scope `admin`; the last active admin cannot be deleted.',
  'users.data':
    'For a request of access or portability (GDPR Art. 15 and 20): all that is stored about the person, a section after the other, without secrets, and without the names of other people. Also what is in the trash, unpublished grades, and entries of the audit log by and about the person. After an erasure it shows what is left.',
  'users.profile': 'Returns the user whose credential is in use, and what the credential can do.',
  'users.updateProfile':
    'Send the parts of your profile, username or password that change. A new password requires `currentPassword`.',

  'terms.list': 'Every role can read the terms. `sort=startDate` puts those without a first day first.',
  'terms.get': 'The `ETag` is the version of the term: send it as `If-Match` with an update.',
  'terms.create': 'Only `name` is required. The first day must not be after the last one.',
  'terms.batch':
    'Each term is found by its external id; one without an external id is always created. `onExists` says what to do with one that exists.',
  'terms.update':
    'Send what changes: absent attributes are left unchanged, and null resets one to its default.',
  'terms.delete':
    'A term that courses belong to cannot be deleted (409 `has_courses`): move the courses to another term first. Deleted courses that belonged to it are restored without a term.',

  'enrollments.list': 'Learners get their own enrolments only.',
  'enrollments.get': 'Learners can read their own enrolments only.',
  'enrollments.create':
    'A deleted enrolment of the same user, course and role is restored. Instructors enrol in courses that they teach, also users whom they cannot see otherwise.',
  'enrollments.batch':
    'Each item succeeds or fails on its own. The response has one result for each item, in the same order. `onExists` says what to do with users who are already enrolled; an enrolment that has been completed stays completed where the item says `active`.',
  'enrollments.update': 'Send what changes. The course, the user and the role cannot be changed.',
  'enrollments.delete': 'Enrolling the user again restores it. Progress is kept.',

  'groups.list': 'Learners get the groups that they are in. `user_id` filters by member.',
  'groups.get': 'Learners can read the groups that they are in.',
  'groups.create': 'Only `name` is required. Several groups may have the same name.',
  'groups.batch':
    'Each item succeeds or fails on its own. The response has one result for each item, in the same order. Items are matched by external id; with `onExists` as `update`, a deleted group is restored.',
  'groups.update':
    'Send what changes: absent attributes are left unchanged, and null resets one to its default. Without a course, a group is of the whole academy.',
  'groups.delete':
    'The group can be restored with its members for 30 days; until then, its external id stays taken. With `erase=true` it is deleted permanently, also if it is deleted already. The users, their enrolments and their progress are kept. Deleting a course deletes its groups, and restoring it restores them.',
  'groups.listDeleted':
    'Groups that were deleted in the last 30 days, except those that were deleted with their course.',
  'groups.restoreDeleted': 'The group comes back with its members.',
  'groups.members':
    'In the order in which they were added. Deleted users are left out; once restored, they are members again. Learners get themselves only.',
  'groups.addMember':
    'A user who is a member already stays one. Members of the group of a course need no enrolment in it.',
  'groups.removeMember': 'The user, their enrolments and their progress are kept.',
  'groups.memberships':
    'The members of all groups in one list, in the order in which they were added. Learners get their own memberships only.',
  'groups.batchMembers':
    'Each item succeeds or fails on its own. The response has one result for each item, in the same order. A user who is a member already is skipped, unless `onExists` says otherwise.',

  'progress.all':
    'One record for each learner and course, without those of deleted enrolments. A record that changes meanwhile keeps its place. Learners get their own progress only.',
  'progress.steps':
    'Every accepted record, without those of deleted enrolments: enrolment after enrolment in the order in which these were made, and the oldest record of each first. With `since` or `until` a page may have few records, or none, and still a `nextCursor`. Learners get their own history only.',
  'progress.list': 'One record for each course. Learners can read their own progress only.',
  'progress.set':
    'Send the whole record. The first one enrols the learner, unless learners record their own. The status and the times of start and completion are derived from it. A record with an older `lastAccessed` than the stored one is refused with 409 `stale_progress`; one with the same time is accepted, so that sending it again is harmless. Without `lastAccessed` the record counts as the newest.',
  'progress.history': 'Every accepted record, newest first. Learners can read their own history only.',
  'progress.batch':
    'Each item succeeds or fails on its own. The response has one result for each item, in the same order.',

  'grades.list': 'Learners get their own grades only.',
  'grades.get': 'Learners can read their own grades only.',
  'grades.set':
    'Send the whole grade. Learner, course, source and item identify it: the first one creates it, others replace it. The grade of the course is recalculated at once, as that of the item `$course`, else as the mean of the items by their weights; so is the completion of the enrolment, if `moveOn` requires a passing grade. A grade with an older `gradedAt` than the stored one is refused with 409 `stale_grade`; one with the same time is accepted, so that sending it again is harmless. A `gradedAt` more than 5 minutes in the future is refused.',
  'grades.delete': 'The grade of the course is recalculated at once. A completed enrolment stays completed.',
  'grades.history':
    'Every accepted grade, newest first. Learners can read the history of their own grades only.',
  'grades.batch':
    'Each item succeeds or fails on its own. The response has one result for each item, in the same order.',

  'grades.report':
    'The grades of each learner who was not removed, ordered by e-mail address. The first page has the items of the course, at most 5,000. Without `include_unpublished`, only grades count that learners see; cleared grades are left out. With many items a page has fewer learners than `limit`.',
  'analytics.learners':
    'One row for each enrolment of a learner, ordered by e-mail address and course. `start_date` and `end_date` filter on `lastAccessed`: a day is a UTC day, included at both ends; a time is included at the start and excluded at the end. JSON is paged, and its first page contains the period and the summary; CSV and NDJSON are returned in full. `learners` in the summary counts each learner once; it is null if `status`, `difficulty` or several courses select more than 20,000 enrolments.',

  'analytics.atRisk':
    'One row for each enrolment in a published course with at least one of the reasons, ordered by e-mail address and course. `inactive`: no access for `inactive_days`, counted from the enrolment if there was none, and not completed. `stuck`: in progress below `stuck_below` per cent, and the percentage has not risen for `stuck_days`. `not_passed`: the grade of the course is below its passing score, also if the enrolment is completed or inactive, as the pass rate counts it; the other reasons require an active enrolment. Days are calendar days in UTC, so that a row appears at midnight. `reasons` has all that apply, whatever `reason` filters by.',
  'analytics.activity':
    'One entry for each day, week (from Monday, ISO 8601) or month between the dates, also for those without activity. A day as a date is one of `time_zone`, included at both ends; a time is included at the start and excluded at the end, and cuts the first or the last period. Records count when they happened, not when they were recorded, so that a past period may still grow. Removed enrolments and deleted users are left out.',
  'analytics.report':
    'The figures behind `learnctl report`: counts and rates, without learners. `summary`, `attention` and `items` are about all current enrolments, whatever the dates; `attention` and `items` by the limits that `GET /v1/analytics/at-risk` has by default. Only the activity is about the dates: by day up to 21 days, by week up to 60 weeks, else by month. `items` has the 100 items with the lowest pass rates.',
  'analytics.grades':
    'One row for each item that has published scores, ordered by title of the course and item id. Cleared and unpublished grades, removed enrolments and deleted users are left out; an item that several sources grade counts each of these grades. Quartiles are interpolated between the two nearest grades, as by `QUARTILE.INC` of Excel and by pandas. A page may have few rows, or none, and still a `nextCursor`.',
  'analytics.rows':
    'Tables that other tools join: users, courses, lessons, enrolments, the history of progress, and grades; `key` and `record` of an item have the fields of its table. Deleted and erased users are left out with all that refers to them, as are removed enrolments and cleared grades. In the order of the key; a page may have fewer rows than `limit`, or none, and still a `nextCursor`. Ask `GET /v1/analytics/changes` for its `until` before the first page: what changes while the pages are read follows from there.',
  'analytics.changes':
    'Each changed row once a page, as it is now: the feed says which rows have changed, in the order in which the changes were committed, and none is passed. What is there no longer is `removed`, or `erased` if it was a user whose data may not be kept. Rows that refer to a removed user or course are not listed; they come back with it. Without `after` the answer has no rows, and the place of now as `until`. The feed reaches back 180 days; for a place that it does not reach, or of another academy, the answer is 409 `changes_gone`.',
  'analytics.statements':
    'Statements of the Experience API (xAPI) for a learning record store, in the order of enrolments: each entry of the history of progress is `progressed` (`initialized` for a first one at 0%), the one that reaches the completion threshold also `completed`; each published score is `scored`, and the grade of the course as it is now `passed` or `failed`. The same record makes the same statement with the same `id`, for the same `actor` and `home_page`. Learners are named by their ids, never by their names.',
  'analytics.backfill':
    'Queues messages for what has happened before, in the order of enrolments, up to 500 with each request: repeat it with `cursor` until `nextCursor` is null. The messages are sent, retried and listed like others. Statements have the same ids each time, so that sending them again changes nothing.',

  'calendars.list': 'Lists the calendars of all courses and users, without their addresses.',
  'calendars.create':
    'The response has the address, which is shown once and stored as a hash. `GET` it without a credential: calendar programs have none. A course or user can have up to 20.',
  'calendars.revoke': 'The address returns 404 at once. This cannot be undone.',
  'keys.list':
    'Lists the keys of all users, including revoked and expired ones, without the keys themselves.',
  'keys.create':
    'The key is shown in this response only. It acts as its owner, within its scopes and the current role of the owner.',
  'keys.revoke': 'The key stops working at once. This cannot be undone.',

  'apps.list': 'Lists the registered applications, without their secrets.',
  'apps.create':
    'The client secret is shown in this response only. A public application has none and relies on PKCE. An application with `machineScopes` gets tokens for itself by its client credentials (RFC 6749 §4.4) and reads the academy over OneRoster.',
  'apps.delete': 'Its grants and tokens are revoked at once.',

  'grants.list': 'Lists your own grants, or with `user_id` those of another user, which requires an admin.',
  'grants.revoke': 'The tokens of the grant stop working at once.',

  'settings.get': 'Settings that were never changed have their defaults.',
  'settings.update':
    'Absent settings are left unchanged, null resets one to its default. With `instructorAccess` set to `all`, instructors see and change all courses and the records of all learners.',

  'leases.take':
    'The client chooses a random id, and sends the same request again before the lease ends, after 60 seconds. While another client holds the lease, the response is 409, but an admin takes the lease of a user who is no admin. The lease blocks no other operation, and is not in the audit log.',
  'leases.release': 'Ends the lease at once. Only its user and admins can release it.',

  'changes.list': 'Admins see all changes, others their own. The newest come first.',
  'changes.create':
    'The response has the id of the change. Send it in the header `Change-Id` with each request that belongs to it, and report the end of the change. Only requests of the same user can belong to it.',
  'changes.get': 'Counts what has been done so far.',
  'changes.end': 'Only its user can end a change. One that has ended already stays as it is.',
  'changes.records':
    'The entries of the audit log that belong to the change, the oldest first. Progress is not in the audit log: it has a history of its own.',
  'undo.plan':
    'Compares what the change did with the records as they are now. Fields that were changed since are kept, and so is what the caller does not see. In place of a change, admins can name an entry of the audit log (`aud_…`) or a request (`req_…`).',
  'undo.carryOut':
    'Carries out the plan with this digest in one transaction, and records it as a change, which can be undone as well. A plan of more than 2,000 writes takes several requests: while `isComplete` is false, send the id of the change as `continues`. Records that are refused are listed, and all others done.',

  'plans.create': 'The plan is deleted after a day. Only its user sees it.',
  'plans.delete': 'What has been carried out stays.',
  'plans.addSteps':
    'Adds up to 1,000 steps from this number on, which is at most the number of steps so far: the same request again replaces them. Nothing is checked yet. References are those of the API; a step may refer to a record that an earlier step creates by its external id or e-mail address.',
  'plans.carryOut':
    'Carries out the next 2,000 steps in one transaction, as a change that can be undone. If one is refused, none is done, unless `skipsRefused` is true. While `isComplete` is false and nothing was refused, send the request again. Nothing is done either if a record has another version than the plan was made from. A deleted record with the external id of a new one is restored and changed. Closed records that the plan names take writes: it may add lessons to a course that it archives.',

  'audit.list':
    'The newest come first. `sort=place` gives them in the order in which they are linked, those that are not linked yet first.',
  'audit.get':
    'The `before` and `after` of an update have the attributes that changed. Salts are null where the details, or the origin, were erased.',

  'endpoints.list': 'Lists the endpoints, without their secrets.',
  'endpoints.get': 'The `ETag` is the version of the endpoint: send it as `If-Match` with an update.',
  'endpoints.create':
    'Only `url` is required. The response has the signing secret, which is shown only once. Events are sent to public https addresses, and to others only if the server allows it.',
  'endpoints.update':
    'Send what changes. Events are queued only while the endpoint is active; setting `status` to `active` also resumes an endpoint that is paused or was disabled.',
  'endpoints.delete': 'Nothing more is sent to the endpoint, and its messages are deleted.',
  'endpoints.rotate':
    'The response has the new secret, which is shown only once. For 24 hours messages are signed with both secrets.',
  'endpoints.test':
    'Queues an event of type endpoint.test, whatever the endpoint subscribes to, and returns its message; read the message again for the outcome.',

  'messages.list': 'The newest come first.',
  'messages.get': 'Returns the message with its body and its last 50 attempts.',
  'messages.resend':
    'The message is sent again at once, and retried as a new one. It keeps its id, so that the receiver can recognise it.',
  'deliveries.list': 'The newest come first.',
  'deliveries.get': 'Returns the delivery with its payload.',
  'deliveries.replay':
    'The delivery is processed as if it had just arrived, such as after a mapping was added. An applied delivery stays as it is, and an older grade never replaces a newer one.',
  'deliveries.replayAll':
    'Processes unmatched deliveries, system by system, oldest first. Send `nextCursor` as `cursor` to continue.',

  'integrations.list': 'There is at most one integration for each kind. Secrets are never returned.',
  'integrations.get':
    'Shows when each secret was set and, if it is long, its last four characters. The secret itself is never returned.',
  'integrations.set':
    'Send what changes: absent attributes are left unchanged, and null resets one to its default. `accessToken` and `webhookSecrets` can only be written. With another `baseUrl`, a stored access token must be sent again or set to null: it is not sent to another system. A new webhook secret replaces the previous one at once, unless `oldSecretEndsAt` sets how long the previous one is still accepted; at most two secrets are accepted. Secrets are encrypted with a key that is not in the database; without it, the response is 503 `encryption_unavailable`.',
  'integrations.remove':
    'Its secrets are deleted, and its events are refused from now on. Mappings and grades are kept.',
  'integrations.test':
    'Asks the other system who the access token belongs to, and checks the settings of the integration. No redirect is followed, and the token is sent over https only, unless the other system is on this machine or in a network that the server allows.',
  'integrations.records':
    'Asks the other system for one page, with its access token, which never leaves the server. Send `nextCursor` as `cursor` with the same `part` and `of` to continue. If the other system asks to wait, or does not answer, the response is 503 with `Retry-After`; if it refuses, 409 `other_system_refused`, whose `reason` is token, permission or answer. Nothing is stored.',
  'integrations.write':
    'Only Google Classroom can be written to, and nothing is deleted there. Courses are created under an alias of their external id, people are enrolled, or invited if they cannot be, course work is created, and grades are set and returned. All of it can be sent again: nothing is done twice. Each record succeeds or fails on its own; records that wait are to be sent again after `retryAfter` seconds. If the sign-in has ended, the response is 409 `other_system_refused`. The audit log counts what was written.',
  'integrations.mappings':
    'The newest come first. A mapping whose course or user was deleted has `targetStatus` deleted: events about it are not matched until it is restored.',
  'integrations.mapping': 'Returns one mapping by its id.',
  'integrations.map':
    'Noun and key identify a mapping: the first one creates it, others replace it. It needs no integration to be set up.',
  'integrations.mapBatch':
    'Each item succeeds or fails on its own. The response has one result for each item, in the same order.',
  'integrations.unmap': 'Events with its key are then matched by external id or e-mail address alone.',

  'service.health': 'Responds as long as the server is running. No credential is needed.',
  'service.ready':
    'Responds with 503 while the database does not respond or the server is stopping: for load balancers. No credential is needed.',
  'service.openapi': 'Returns this document. No credential is needed.',
}

/** In Markdown. */
export const introduction = `Manage courses, lessons, users and enrolments, record the progress of learners and report on it.

**Credentials.** Send \`Authorization: Bearer <credential>\`, an API key or an OAuth 2.0 access token. A request may do what
both the scopes of the credential and the current role of its owner allow; \`x-scope\` and \`x-roles\` of each operation
name them. A record that the caller may not see is "not found".

**References.** Wherever an id is expected, \`ext:<externalId>\` is accepted, and for users \`email:<address>\`. Responses
contain the id.

**Lists.** A page is \`{data, nextCursor}\`. Send \`nextCursor\` as \`cursor\` to get the next page; only on the last page
is it null. Every page before the last has \`limit\` items, unless the operation says otherwise. Parameters with several values take them separated by commas, or repeated.

**Updates.** \`PUT\` merges (RFC 7396): absent fields are left unchanged, null resets a field to its default. \`PATCH\` does
the same; it is not listed, so that a generated client has one function for each update. With the \`ETag\` of the record in
\`If-Match\`, an update fails with 412 if the record has changed in the meantime; in \`If-None-Match\`, a read returns 304 if
it has not. Responses are compressed (gzip, br) if \`Accept-Encoding\` allows it; compressed request bodies are refused.

**Idempotency.** A \`POST\` with an \`Idempotency-Key\` can be repeated for 24 hours: it returns the first response again, with
\`Idempotent-Replayed: true\`.

**Errors** are problem details (RFC 9457): \`code\` is for programs, and \`errors\` lists all problems of the request.

**Times** are RFC 3339 with any offset; responses are in UTC with milliseconds.

Eight operations are those of the published interface (\`x-published: true\`); all others are extensions.`
