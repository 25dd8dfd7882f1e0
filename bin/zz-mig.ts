import sql from 'sql-template-tag'
import { counterSchema } from '../src/server/database/counter-schema.ts'
import { openSqlite } from '../src/server/database/sqlite.ts'
import { rebuildCounters } from '../src/server/counters/recount.ts'
const db = openSqlite(process.argv[2]!)
const at=(n:string,f:()=>unknown)=>{const c=process.cpuUsage(),t=performance.now();f();const u=process.cpuUsage(c);console.log(n.slice(0,70).replace(/\s+/g,' '),'wall',Math.round(performance.now()-t),'user',Math.round(u.user/1000),'sys',Math.round(u.system/1000),'maxRSS',Math.round(process.resourceUsage().maxRSS/1e3))}
db.transaction(()=>{
 for(const s of counterSchema) at(s.sql,()=>db.run(s))
 at('risen',()=>db.run(sql`
    update progress set risen_at = coalesce((
      select s.last_accessed from progress_steps s
      left join progress_steps b on b.user_id = s.user_id and b.course_id = s.course_id and b.version = s.version - 1
      where s.user_id = progress.user_id and s.course_id = progress.course_id
        and (b.version is null or b.percentage < s.percentage)
      order by s.version desc limit 1), started_at, last_accessed)`))
 at('rebuild',()=>rebuildCounters({database:db,now:new Date().toISOString()}))
 db.run(sql`pragma user_version = 6`)
})
console.log(db.all(sql`select count(*) as n from counters`))
db.close()
