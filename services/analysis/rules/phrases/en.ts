import type { LanguagePhrases } from './language-phrases.ts';

const ACTION =
  'check*|refund*|send*|sent|resend*|fix*|issu*|process*|arrang*|book*|schedul*|cancel*|replac*|ship*|deliver*|' +
  'reset*|restor*|activat*|block*|unblock*|unlock*|open*|creat*|register*|updat*|chang*|transfer*|escalat*|' +
  'credit*|correct*|adjust*|waiv*|remov*|connect*|restart*|resolv*|solv*|sort*|extend*|order*|submit*|file|' +
  'filed|appl*|prepar*|renew*|revers*|forward*|look|reissu*|reschedul*|repair*|confirm*|walk|guide|pull*|put|' +
  'note*|investigat*|switch*|upgrad*|reserv*|expedit*|dispatch*|assign*|reimburs*|deduct*|lower*|add|added|' +
  'mark*|move|moved|find|review*|verif*|trac*|take|' +
  'split*|spread*|clos*|stop*|pause*|end|ended';

const DONE =
  'checked|refunded|sent|resent|fixed|issued|processed|arranged|booked|scheduled|cancelled|canceled|replaced|' +
  'shipped|reset|restored|activated|blocked|unblocked|unlocked|opened|created|registered|updated|changed|' +
  'transferred|escalated|credited|corrected|adjusted|waived|removed|connected|restarted|resolved|solved|sorted|' +
  'extended|submitted|filed|applied|prepared|renewed|reversed|forwarded|reissued|rescheduled|confirmed|found|' +
  'added|marked|moved|reserved|assigned|put|noted|switched|' +
  'closed|stopped|ended|split|paused';

export const en: LanguagePhrases = {
  lexicons: {
    greeting: `
      hiya; hullo; gday; good day; morning|afternoon|evening; how are you; lovely|nice|good to hear from; ! tomorrow|this|the|in|every|each|monday|tuesday|wednesday|thursday|friday|saturday|sunday|yesterday morning|afternoon|evening; ! morning|afternoon|evening at|or|slot|appointment;
      hello; hi; hey there; good morning|afternoon|evening|day; greetings; welcome to; welcome back; nice to meet|
      hear; thank you for calling|contacting|ringing|phoning; thanks for calling|contacting|ringing; hello and
      welcome; howdy; pleasure to meet|speak|talk
    `,
    introduction: `
      my name is; my names; the names; this is .. speaking; speaking how; speaking; i am .. from; im .. from; this
      is .. from|with|at; this is .. what|how|speaking|here|calling; its .. from; it is .. from; good morning|
      afternoon|evening .. bank|clinic|support|service|services|mobile|insurance|travel|travels|delivery|parcel|
      express|telecom|shop|store|center|centre; you are through to; youre through to; youve reached; you have
      reached; (you are|youre) speaking|talking with|to; calling [you] from|on; (i am|im) calling .. from|behalf; on
      behalf of; name is .. from; here from; welcome to; thank you for calling the|our; customer|technical|client
      service|support|care how; (i will|ill) be your; im your .. agent|adviser|advisor|consultant|specialist|
      manager|assistant; i am your .. agent|adviser|advisor|consultant|specialist|manager|assistant; (you are|youre)
      connected to|with; (i am|im) .. and (i will|ill) be helping|assisting; ! am i speaking with|to; ! speaking
      with|to|of|about|slowly|louder|up|english; ! are you speaking; ! stop speaking; ! who is|am speaking; ! may i
      ask who is speaking; ! whos speaking; hello|hi|morning|afternoon|evening .. plumbing|taxis|cabs|dental|
      dentist|dentists|vets|garage|hotel|gym|restaurant|salon|finance|energy|pharmacy|surgery|practice|airlines|
      helpdesk|office|care; thanks|thank .. for calling .. here
    `,
    need: `
      how can|may|could|might|shall|should i|we .. help|assist|serve|direct; how can|may|could i|we be of; what can|
      may|could i|we do|help|assist; can|may i|we help you; how .. be of [any] help|assistance|service; what seems
      to be; (what is|whats|what was) the problem|issue|matter|reason|trouble|nature|purpose; what happened; whats
      happened; what brings you; can|could|would|will|may you|i [please] tell|give|describe|explain|provide|confirm|
      spell|read|share|clarify|repeat|elaborate|verify me|us|the|your|what|how|when|which|a|that|for|whether|if;
      could|can|may i [please] [just] have|get|take|ask|know|confirm|verify; may i ask; mind telling|giving|
      confirming|if i ask; what [exactly] .. happening|wrong|happens|see|shows|error|message|looking; when did [it|
      this|you|the]; since when; how long has|have|ago; which [one] order|product|card|account|plan|model|date|
      flight|branch|service|address|number|part|day|city|city|clinic|doctor; what kind|type|sort|size|colour|color|
      model of; tell me [a] [bit|little] [more] about|what|how|exactly; please tell|describe|explain|share|provide|
      confirm; do you have .. number|reference|receipt|email|name|date|account|order|copy|code|card; is it|this ..
      about; what error; have you tried|checked|noticed|received|already|been; are you calling|looking|interested|
      seeing|using|able|still; what would you like|prefer|need; what are you looking|calling|hoping; what do you
      need|have|see|use; (what is|whats) your [full|order|account|phone|email] number|address|name|id|date|email|
      postcode|budget|booking|policy|reference|order|account; your [full] order|account|policy|reference|booking|
      phone|customer|contract|card number|name|id; let me ask; few [quick] questions|details; when would|do you;
      where do|would|are|did you; how many|much .. you need|want|have|would; would you prefer|like; what about ..
      are you; to whom am i speaking; who am i speaking; am i speaking with|to; what .. can i do for you; what can i
      do for you; help you with [today]?; is there a .. number|light|message|error; is there a|any reason; what made
      you; talk me through; have you got the|your|a .. number|reference|name|receipt|address
    `,
    unhappy: `
      upset; angry; frustrat*; annoy*; unacceptable; ridiculous; terrible; awful; horrible; disgust*; disappoint*;
      furious; outrag*; appalling; fed up; sick of; tired of; sick and tired; worst; complain*; unhappy; not (happy|
      satisfied|pleased|acceptable|good enough|right|fair); not|isnt|doesnt|dont|wont|wouldnt working|work; stopped
      working; nothing works; broken; damaged; faulty; defective; cracked; never arrived|came|received|showed|
      called|got|happened; still .. not|havent|hasnt|waiting|no|nothing|isnt|dont|doesnt|cant; have been waiting;
      ive been waiting; been waiting; waiting for .. weeks|days|hours|month|months|ages|week; overcharg*; charged ..
      (twice|double|again|extra|wrong|without|for something|more); double charge*; wrongly charged; lost my|our|the|
      me; (no one|nobody) .. helps|help|helped|answers|answered|called|calls|told|came|comes|cares|knows|informed;
      nobody cares; no one cares; second|third|fourth|fifth time; again and again; over and over; keeps happening|
      crashing|dropping|disconnecting|failing|going|breaking; every time i; scam; rip off; ripped off; waste of;
      unfair; what a joke; is a joke; my money back; on hold for; how long .. wait; how much longer; worried;
      scared; stress*; desperate; nightmare; mess; useless; incompetent; hopeless; rude; ignored; cheated; robbed;
      stolen; outage; wrong item|order|product|size|amount|address|colour|color; had it with; cant believe; cannot
      believe; never again; lousy; poor service|quality; bad service|experience; shame on; mistreat*; embarrass*;
      urgent*; missed .. flight|work|appointment|meeting; nothing .. happened|happens|changed|changes|done|arrived;
      days late; hours late; weeks late; too late; so late; delayed; let me down; lied; speak to [a|your|the]
      manager|supervisor; switch|cancel everything; no internet|water|power|signal|heating|electricity|connection;
      end of my tether|rope|patience; had enough; struggling; (nobodys|nobody has|no ones|no one has) told|called|
      rung|answered|helped|come; was|were meant|supposed to come|arrive|be|ring|call
    `,
    empathy: `
      sorry; apolog*; i|we [do|can|completely|totally|fully|really|absolutely|certainly|very] [well|much]
      understand|appreciate how|your|why|that|this|it|the|what; understand [how|your|why|that] .. frustrat*|upset*|
      concern*|annoy*|feel*|situation|worr*|disappoint*|inconvenien*; i [can] [only] imagine; can imagine; must be
      .. frustrat*|hard|difficult|stress*|upset*|annoy*|worr*|unpleasant|inconvenien*|scary; must have been; that
      sounds .. frustrat*|hard|difficult|stress*|upset*|annoy*|awful|terrible|unpleasant|worr*; (i would|id) [feel|
      be] .. same|upset|frustrated|too; i hear you; i hear your; i see how|why; thank you for your|being patience|
      patient; thanks for .. patience|patient; appreciate .. patience|patient|letting|telling; thank you for ..
      letting|telling|bringing|explaining|pointing; dont worry; do not worry; no need to worry; not to worry; please
      stay calm; i know (how|this is|it is|its); inconvenien*; i|we regret; not what|how|the .. should|want|expect*|
      experience|hope*; every right; (youre|you are) .. right to be; in your place|position|shoes; thats ..
      (frustrating|unpleasant|annoying|not okay|our mistake|our fault|awful|terrible|dreadful); our mistake|fault|
      error|responsibility; take [full] responsibility; cant apologize|apologise|thank .. enough; im with you;
      forgive us|me; pardon us; not acceptable; shouldnt|should not have happened; your frustration|concern|
      concerns|worry|disappointment; ! sorry but; ! sorry cant|what|who|pardon; ! sorry i cant|didnt|dont|cannot|
      couldnt; ! sorry not; ! not sorry; ! sorry [not] my; feel for you; poor thing; i [do|can|totally|completely|
      really] get why|how; how awful|dreadful|frustrating|upsetting; ! sorry could|can|may|would|what|whats|say; !
      sorry i missed
    `,
    solution: `
      i|we will|shall|can|could .. ${ACTION}; ill|let .. ${ACTION}; i|we have .. ${DONE}; ive|weve .. ${DONE}; well
      [just|now|also] ${ACTION}; going to ${ACTION}; lets .. ${ACTION}; (im|i am|we are|were) [now|just|already|currently]
      checking|refunding|sending|resending|fixing|issuing|processing|arranging|booking|scheduling|cancelling|
      canceling|replacing|shipping|resetting|restoring|activating|blocking|unblocking|opening|creating|registering|
      updating|changing|transferring|escalating|crediting|correcting|adjusting|removing|connecting|restarting|
      submitting|filing|applying|preparing|reversing|looking|pulling|adding|putting; (i will|i can|ill) personally;
      has|have|is|are|been [now|just|already|been|successfully|fully] refunded|fixed|resolved|cancelled|canceled|
      activated|unblocked|blocked|sent|issued|processed|booked|scheduled|updated|changed|restored|replaced|
      dispatched|credited|corrected|removed|registered|submitted|approved|confirmed|reset|reversed|escalated|
      assigned|arranged|transferred|reserved|waived; (it is|its) [all|now] (done|fixed|sorted|resolved|active|
      working again); is now active|working|open|fixed|live; all set; all done; all sorted; youre all set; good
      news; i found|see .. your|the|it|that; the [best] solution|option|way|fix is; what i|we can|will|suggest|
      recommend|propose; heres|here is what|how; i|we [would|can|d] suggest|recommend|offer|propose|advise; id
      suggest|recommend; please try|restart|unplug|open|click|go|enter|log|press|turn|check|follow|download|select|
      switch|hold|remove|install; try restarting|turning|to|unplugging|again|logging|clearing; you can [now|also|
      simply|just|then|either|easily] do|go|click|use|open|visit|download|pay|choose|pick|change|return|collect|log|
      exchange|get|apply|cancel; you [just|only] need|have to; click on|the; go to the|your|settings; restart the|
      your; follow the|these|this .. steps|instructions; turn .. off and on; your .. is|are booked|confirmed|
      scheduled|ready|approved|active|processed; (you will|youll) get|receive .. refund|replacement|money|credit|
      compensation|discount|new; i|we [have|can|do] [an] available|appointment|slot; free of charge; at no [extra]
      cost|charge; full refund; compensation|discount of; arrange a|for|the|your; for you right now|away; right
      away|now .. i|we; take care of [it|this|that]; earliest|first|next [available] slot|appointment|date; costs #;
      price is; the fee is; i|we just|already ${DONE}; id .. put you; (comes to|works out at|it costs|price is|it
      would be) .. pounds|dollars|euros|hundred|thousand; i|we can|could fit you in
    `,
    refusal: `
      nothing i|we can do; nothing .. can do about; not my problem|job|business|department|concern|responsibility|
      area; not our problem|concern|business|responsibility; (cant|cannot|wont|can not) help you; i (cant|cannot|can
      not|wont) do anything; no idea; how should|would i know; i [really] dont know (anything|how|what you|when|what
      to|why you); thats not possible; deal with it; call another|someone|somebody|some other; call somewhere; its
      your problem; thats your problem; your own problem; sort it out yourself; figure it out yourself; find it
      yourself; look it up; google it; read the website|contract|terms|rules|instructions|manual; (its|it is) on the
      website; check .. yourself; cant be bothered; i dont [really] care; rules are rules; thats [just] how it is|
      works; thats the rule|rules|policy|way; dont ask me; ask someone|somebody else; go somewhere else; nothing to
      do with me|us; take it or leave it; i dont make the; theres|there is nothing [more|else] (i can|we can|to do);
      i cannot|cant see anything; not interested in; we dont do that; go to [the|a] branch|office|store yourself;
      (not able|unable) to (help|assist|do anything); isnt|not something we|i handle|deal|do|cover; (you|youll|youd|
      you will|you would) have to (ask|call|ring|contact|speak to|find) (someone|somebody|another|elsewhere)
    `,
    explanation: `
      because; the reason; due to; (that is|thats|which is) why; this|that|which|it means; so that; in other words;
      let me explain; ill explain; explain .. why|how|what; i will explain; this|it|that happened|happens|occurs|
      occurred|can happen when|because|after|if|since|due|as; caused by; the way it|this works; how it|this works;
      what happened|happens is|was|here; in order to; first .. then; step by step; for example; for instance; it
      [usually|normally|typically] takes; takes [about|up|around|from|between|only|usually] #; as a result; as soon
      as the|your|we|it; since the|your|our|we; the (issue|problem|delay|charge|error|fee|difference|payment|amount|
      order|parcel) was|is|occurred|happened|comes|came .. because|due|caused|from|by|that|held|stuck|delayed; was
      (caused|delayed|held|blocked|declined|charged|stuck|duplicated|returned|damaged|lost|changed|entered|affected)
      by|because|due|at|in|for|twice|on; it turns out; turned out; i [can] see [here] that; what this means; depends
      on; includes; consists of; is charged|calculated|applied|included|covered|paid; our|the system .. shows|shown|
      charged|blocked|applied|flagged|recorded; a (technical|temporary|system|billing|duplicate) error|fault|issue|
      failure|problem|glitch; maintenance|outage in|on|at|near; the rate|term|price|policy|plan|tariff is|covers|
      includes|changed|was|costs; as long as; provided that|you|it; on condition; ! what .. the reason; ! the reason
      for|of your|you; ! the reason [why] you; ! because of that|it; no|not|cannot|cant|dont|wont .. (because|as
      long as|due to); since its|youve|youre|thats|weve|theres
    `,
    understanding: `
      tell|say|repeat|read .. back; back to me; same page; does that sound|match|fit; is that what|how you;
      so we agree; so we are|were agreed; agreed then; do|have i [got|have] .. that|it|this right; have i got; is that|it how|what you; does that cover; are we clear|agreed; clear so far; following me; do you follow; in your own words; let me read|say|play .. back; reading it back; so to be clear|sure; so thats; still .. still; make sense .. way; you get me; is that what you; so what you need|want; just so i|we|im; that right; all correct;
      make sense; makes sense; is that|this|it|everything|all [all]
      clear|okay|ok|right|correct|alright|fine|good|acceptable|convenient; did i [understand|get|hear] ..
      correctly|right|you|that; do i understand; if i understand|understood|have understood|heard|got; so
      you|youd|your|youre [would] (want|need|like|are|have|mean|prefer|ordered|paid|order|was|were|card|account); so
      [just] to; so (the|its|it is|that is|thats) .. right|correct|yeah; let me [just|quickly] (repeat|confirm|make
      sure|summarize|summarise|recap|double check); let me read .. back; just to
      (confirm|clarify|be|make|double|recap|summarize); to confirm; to summarize|summarise; to recap; to clarify; to
      make sure; make sure i; am i right; would|does|will that|this|it [time|day|date]
      work|be|suit|help|sound|okay|ok; is that okay|ok; sound|sounds good|okay|ok|right; you said|mentioned
      [that|your|you|it|the]; do you [now] see|understand|follow|agree; do you agree; you mean; i
      understood|understand [correctly] that|you; got it .. you|your|so
    `,
    dead_promise: `
      someone|somebody will|might|may|should|is|from .. call|contact|get|reach|be|ring|look; (someone|somebody|
      theyll|they will|they may) .. call|contact|ring|get [you|back] .. sometime|someday|eventually|maybe|possibly|
      when; (they will|theyll) call|contact|ring you; sometime|someday|some day; eventually; at some point; when ..
      possible|time|chance|can|feel; one of these days; maybe tomorrow|later|next|someone|somebody|they|soon;
      probably tomorrow|later|next|someone|soon|sometime; perhaps someone|somebody|tomorrow|later; [well] see what;
      well see; we will see; just wait; [just|you] have to wait; keep waiting; wait and see; you [will|just] [have|
      need] to wait; wait for [a|the|some|their|someone|somebody] .. call|message; call|try|ring [back|us|again|it]
      [again|back] later|tomorrow|another|next|in|some|when|sometime; call back; try again; try calling; call|ring
      again; sooner or later; i guess; i suppose; i think so; hopefully someone|somebody|soon|they; it should .. be|
      work|come|arrive .. soon|sometime|eventually|somehow|itself; might take .. while; takes as long; who knows;
      hard to say; cant say when|how; dont know when|how long|exactly; no idea when; if [we|they|i] .. have time;
      pass .. on to someone|somebody|them; will fix itself; should fix itself; ! someone|somebody will|from .. call|
      contact|get|reach|be|ring [you|back] .. within|in|today|tomorrow|by|before|at|between|on|#; ! someone|somebody
      .. within|today|tomorrow|before|by|between; ! (ill|well|i will|we will) [personally] call|ring|try|phone ..
      back|again; ! when .. possible .. we|i will|ll; ! call back .. number|within|today|tomorrow|at|by; ! call|get
      you back; ! a call back; ! call us back if|any|anytime|whenever|should; ! (they will|theyll) call|contact|ring
      you .. within|today|tomorrow|by|before|at|between|in|on; ! let me try again; ! please try again; ! could|can
      you try again; ! try again now|please; ! call back (at|on|within|by|#); ! (ill|i will) try again; (someone|
      somebody|well|we will|theyll) [will] be in touch; let you know when we know|can|hear; at some stage; in due
      course; ! be in touch .. within|today|tomorrow|by|before|on|this|#; ! (someone|somebody|well|we will|theyll)
      [will] be in touch .. within|today|tomorrow|by|before|on|this|#
    `,
    courtesy: `
      please; thank you; thanks; of course; certainly; absolutely; my pleasure; happy|glad|pleased to help|assist|
      hear; would you mind; gladly; kindly; sure thing; with pleasure; (youre|you are) [very|most] welcome; no
      problem at all; not at all; by all means; i appreciate; id be happy|glad; may i; bear with me; one moment;
      just a moment|second|minute; no worries; much appreciated
    `,
    next_step: `
      at|by|before|after|until|around|from [about|around] (five|ten|quarter|twenty|twenty five|half) past|to; at|by|before|after|until one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight; on the first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|twentieth|twenty|thirtieth; ! at one point|time|of; ! at two;
      within [the] [next|a|an] #|one|two|three|four|five|seven|ten|hour|day|minute|week|few; within the hour|day; in
      # hours|minutes|days|business|working|to; in one|two|three|four|five|ten|fifteen|twenty|thirty .. hours|
      minutes|days|business|working|weeks; by [the] [end] [of] [the|this|next] tomorrow|monday|tuesday|wednesday|
      thursday|friday|saturday|sunday|day|week|noon|today|tonight|#|five|six|date; by the end of; on|next|this|
      before|until|from|by monday|tuesday|wednesday|thursday|friday|saturday|sunday; today|tomorrow by|at|before|
      between|morning|afternoon|evening|after|from|until; tomorrow morning|afternoon|evening|at; (you will|youll)
      [also|then|shortly|soon] receive|get|see|hear; (i will|ill|well|we will) [also|then|personally|now] (call|
      contact|email|text|message|update|notify|ring|phone) you; (i will|ill|well|we will) .. let you know; (i will|
      ill) send; text message; a|an|by|the|confirmation sms|email|text; confirmation .. email|number|code|letter|
      message; tracking number|link|code; reference|ticket|case|request|claim|complaint|booking|order|repair number
      .. is; next step*; follow up; appointment .. is|for|on|at; scheduled for; booked [you] for|in; rescheduled ..
      for|to; technician|courier|engineer|driver|agent|specialist|manager|colleague|plumber|adviser|advisor .. will
      (arrive|come|visit|call|be|contact|deliver); at|before|after|between # [am|pm|oclock|and|thirty|to]; # am|pm|
      oclock; business days; working days; # to # [days|hours]; #|two|three|five .. hours|days|minutes; see you on|
      at|tomorrow|monday|tuesday|wednesday|thursday|friday; (i will|ill) make a note; if .. not|doesnt|havent|isnt
      .. call|contact|let; ill stay|hold on the line; from now on; starting from|today|tomorrow|next; effective
      from|today|immediately; expected|estimated date|arrival|delivery|time|by
    `,
    further_help: `
      something else i; anything further|more i|you|we; what else would|do;
      everything else .. today|taken;
      anything bugging|bothering|troubling|worrying you; what else is; is that the lot; else on your mind; more for
      you today; ! is that all [all] right|alright|okay|ok|fine|clear|correct|good|set|done|understood|you; ! is
      that|this everything clear|okay|ok|correct; ! is that everything on|in|you ordered; anything else; something
      else .. help|can|do|i; any other|further|more|additional questions|question|concerns|issues|requests|help; other
      questions|question|concerns; what|who else can|may; else i can|may|could; is that all|everything; do you have
      any questions; what else; any questions; help|assist you further; further assistance|help; is there
      anything|something .. else|can|help|need; feel free to call|contact|reach|ask; dont hesitate|do not hesitate; if
      you [have|need|ever] [any|anything|more|further] .. questions|question|help|else|call|contact
    `,
    farewell: `
      mind how you go; off you go; ta ta; so long; look after yourself; see you|ya; bye now; speak to you soon|later; mind yourself; have a good one; safe home; happy travels; i will let you go; ill let you go; ! see you have|are|were|paid|ordered|called|need;
      goodbye; good bye; bye; byebye; have a|an [very|really] great|nice|good|lovely|wonderful|pleasant|fantastic|
      safe|beautiful; take care; all the best; see you [soon|then|later]; thank you for calling|contacting|choosing|
      your|being|trusting|staying; thanks for calling|contacting|choosing|your|being; good night; enjoy your; best
      wishes; wish you; talk|speak .. soon|then|tomorrow|later; have a one|day|evening|weekend|afternoon; good day
      .. to you; until next time; have a safe; happy holidays; get well; safe travels|trip|journey; good luck; it
      was .. pleasure; pleasure talking|speaking|helping|serving|assisting; cheers; cheerio; ! thank you for your
      question|understanding|patience; ! thanks for your question|understanding|patience; no problem|worries|bother
      .. bye|goodbye; no problem|worries|bother .. have a great|nice|good|lovely; no problem|worries|bother ..
      thanks|thank you for calling; no problem|worries|bother .. take care; not at all .. bye|goodbye
    `,
    abuse: `
      idiot*; moron*; imbecile*; cretin*; dumbass*; shut up; shut your mouth|trap|face; go to hell; fuck*; bullshit;
      damn you; piss off; bitch*; asshole*; arsehole*; bastard*; screw you; you fool; you loser; scumbag*;
      dickhead*; wanker*; drop dead; (you are|youre|are you) [just|so|really|completely|that|too|all|a] stupid|dumb|
      retarded|brainless|dense|thick|stupid; stupid|dumb [old] woman|man|cow|people|person|customer*|client*|girl|
      boy; you|your stupid|dumb; how stupid|dumb are|can|do; [too|so] stupid|dumb to; you people are all; ! call|
      called|calling|calls me|you|him|her|anyone .. idiot|stupid|moron|fool|dumb; ! call|called|calling me|you|us ..
      [an|a] idiot|moron|bastard|bitch; ! word idiot|fuck|bitch; ! not .. idiot*|stupid
    `,
    rudeness: `
      what do you [even] want [now]; so what; whatever; not my problem|job|business|concern|department; i dont
      [really|even] care; who cares; [dont|stop] waste|wasting my|our time; wasting my|our time; hurry up; be quick;
      make it quick|fast|short; calm down; are you deaf; are you [even] listening; i already told|said|explained;
      (i|ive|i have) told you already|that; dont yell|shout|interrupt|raise; dont tell me; deal with it; stop
      calling|complaining|whining|shouting|yelling|talking|bothering|crying; thats|its your [own] problem; im busy;
      i am busy; leave me alone; im hanging up; i am hanging up; (dont|do not) call (here|again|us|back|anymore);
      what now; not again; [oh] for god|gods|heavens|christs sake; what is it now; what is it; too bad; tough luck;
      boo hoo; cant you [even] read|hear|understand|listen; use your head|brain|eyes; did nobody; are you kidding;
      are you serious; big deal; so sue; go ahead .. complain|sue; complain .. whoever|anyone|whomever|wherever|all
      you; i have|got other (calls|customers|things|clients|people); [there|many] other people; like everyone else;
      its not rocket; get to the point; [just] spit it out; yeah yeah; blah; youre not the only; you are not the
      only; my lunch|shift|break .. is|starts|over; do i look; how should|would i know; dont ask me; i couldnt care;
      thats life; get over it; take it or leave it; i dont have all day; what else do you want; are you done|
      finished; lucky you; if you dont like it; ! i do care; ! calm down .. together; ! dont shout .. please; ! what
      is it that|you|about|called|like|for|showing|doing; ! what is it now showing|saying; ! are you done|finished
      .. with the|your; ! whatever you|works|is|time|suits|happens|the|it|your|happened|reason; (oh|well|wow) good
      for you; (that is|sounds like) your [own] problem; how many times do|must|have|should|did i; havent got all
      day; why should i care; what part of; you people; sob story; whats wrong with you; what is wrong with you; get
      a grip; grow up; ! ask|asked|tell|told|get .. to hurry up; ! if you dont like it .. you can; ! if you dont
      like it .. we|well; ! if you dont like it .. return|exchange|refund
    `,
    blame: `
      your [own] fault|mistake|carelessness; you should|shouldve|shouldnt [not] have|of|ve; you should .. thought|
      read|checked|called|known|listened|done|paid|looked; shouldve|should have .. thought|read|checked|called|
      known|listened|paid|looked; you must have .. done|entered|pressed|broken|lost|misread|dropped|forgotten|typed|
      given|broke|deleted|clicked; you did [it|this|something] .. wrong; you broke; you [just] didnt|did not read|
      pay|listen|check|follow|bother|look|call|pick|answer|notice; why didnt|dont you; why did you; you forgot; you
      were supposed; you yourself; because of you; you [just|clearly|obviously] (dont|do not|didnt) understand|know
      anything|it|how; (its|that is|thats) on you; blame yourself; only yourself to blame; (nobody|no one) told|
      made|forced|asked you; read .. before [you] (sign|buy|order|call); next time read|check|listen|pay|look|be|
      think|dont; thats what you get; you signed; you agreed to (it|this|that|these|the terms|the conditions); you
      chose|picked|bought|ordered it|this|that; who told you; your own doing; your own stupid*; what did you expect;
      you probably .. did|broke|forgot|dropped|entered|wrong|pressed|spilled; you gave .. wrong; you typed|entered
      .. wrong|incorrectly; customers|clients|people always; learn to|how; ! not your [own] fault|mistake; ! isnt
      your fault|mistake; ! you should have received|gotten|got|been|had|a|an|it|the|your|now|just; ! you signed
      [up] in|for|on; ! why dont you (try|take|let|send|give|come|choose|tell|check); ! you should have [already|
      now] [already] received; ! why did you .. choose|decide|contact|call
    `,
  },
  cues: {
    problem: `
      i|we want|need|would|wanted|needed .. to|a|my|your|the|help; i|id would|d like to; id like; i have|ve|got a|
      an|some problem|question|issue|complaint; ive got; my .. is|isnt|doesnt|does|has|hasnt|was|wont|stopped|never|
      not|keeps|cant; (im|i am) calling|phoning|ringing about|because|to|regarding|for; i cant; i cannot; i can not;
      i [just] ordered|bought|received|paid|tried|lost|booked|found|got|made|transferred|noticed|ordered|sent|
      forgot; there is|was|s|theres a|an|no problem|issue|mistake|error|charge|internet|water|signal; i was|were|ve
      been charged|told|promised|billed|waiting|sent; doesnt work; not working|arrived|received|delivered|come; help
      me; can|could you [please] help|cancel|check|change|tell; i never|still received|got|ordered|have|dont|
      waiting|havent; where is my; when will my; has|have not|hasnt|havent arrived|come|received|been; someone [has]
      stole|used|took|withdrew|made|stolen
    `,
    question: `
      what; whats; how; when; where; wheres; why; who; whose; which; can|could|would|will|may|do|does|did|is|are|
      have|has|had|shall|should|was|were you|i|we|it|that|there|this|your|they|he|she|the|my|any|everything|anyone;
      any questions; anything else
    `,
    question_end: 'right; correct; okay; isnt it; is that ok; am i right',
    hold: `
      on hold; hold the line|on|please; bear with; one|a|just moment|minute|second|sec|tick; hang on; wait a|one|while; stay on the line; give me a|two|one
    `,
    serving: `
      how can|may|could i|we help|assist; what can i do for you; thank you|thanks for calling|contacting|ringing; (you are|youre) through to; youve|you have reached|got; welcome to; customer|technical support|service|care; (who am i|to whom am i) speaking|talking; can|could|may i take|have your (name|number|account|surname|postcode); what is|whats your (account|order|policy|customer|booking) number; anything else i can; let me look|check|see; i can see your|the|it; speaking how
    `,
    reports: `
      he|she|they|who|somebody|someone|everybody|colleague|manager|driver|courier|engineer|technician|doctor|nurse|
      neighbour|neighbor|husband|wife|son|daughter|mother|mum|mom|father|dad|boss|friend|customer|client|caller|man|
      woman|guy|lady|girl|lad|chap|bloke|assistant|agent|operator|branch|bank|shop .. said|says|saying|shouted|shouts|wrote|writes|goes|went|yelled|replied|answered|told|tells|asked|
      called|kept|claimed|claims; (he|she|they|who|somebody|someone|colleague|guy|girl|lady|man|woman) (was|were) [all]
      like|saying|shouting; (i was|you were|was|were) told; according to; it|letter|message|email|text|leaflet|sign|
      note|form|website says|said|reads; in his|her|their words; quote; so called; the words
    `,
    reported: 'he|she|they said|says; said|says he|she; unquote',
  },
  topics: {
    refund: 'refund*; money back; reimburs*; chargeback; give .. money back; get .. money back',
    cancellation: `
      cancel*; terminat*; unsubscrib*; close [my|the] account|contract; stop the subscription; end [my|the]
      contract|subscription
    `,
    complaint: `
      complain*; speak to [a|the|your] manager|supervisor; file a; unacceptable; report .. behaviour|behavior; legal
      action; lawyer
    `,
    delivery: `
      deliver*; parcel*; courier*; package*; shipment*; shipping; shipped; tracking; dispatch*; post office; pickup
      point; warehouse; driver
    `,
    order: 'order*; purchas*; bought; checkout; cart; ! in order to',
    billing: `
      bill; bills; billing; billed; invoice*; charged; overcharg*; charge|charges; statement; fee|fees; tariff;
      debited; deducted
    `,
    payment: `
      pay; paid; payment*; pays; paying; instalment*; installment*; overdue; debt; due date; direct debit; autopay
    `,
    loan: `
      loan*; credit; mortgage*; borrow*; interest rate; repayment*; lender; ! credit card*; ! credit to; ! credited
    `,
    card: 'card; cards; debit card; credit card; pin; pin code; atm; cvv; contactless; ! sim card; ! gift card',
    account: `
      account*; password*; login; log in; sign in; username; profile; verification code; locked out; two factor; !
      account number is
    `,
    transfer: 'transfer*; wire; iban; swift; beneficiary; recipient; sent money; ! transfer you|me|your call',
    insurance: 'insur*; policy number; claim; claims; coverage; premium; deductible; accident',
    fraud: `
      fraud*; scam*; stolen; suspicious; unauthorised; unauthorized; phishing; hacked; didnt make; did not make;
      blocked .. card; identity theft
    `,
    internet: `
      internet; wifi; wi fi; router*; modem; broadband; connection; speed test; fibre; fiber; network; no signal;
      disconnect*; ! social network*
    `,
    mobile: `
      sim; sim card; roaming; mobile; data plan; gigabytes; phone number|plan|line; minutes package; text messages;
      top up; ! mobile app|bank*
    `,
    technical: `
      error*; not working; doesnt work; crash*; bug; app; reset; restart*; reboot; update; install*; software;
      device; screen; settings; broken; faulty; repair*; technician*; engineer
    `,
    appointment: `
      appointment*; reschedul*; booking; doctor*; clinic; visit; slot; consultation; dentist; specialist; schedul*
    `,
    price: `
      price*; pricing; cost; costs; discount*; how much; expensive; cheaper; promo*; offer; coupon; special offer;
      quote
    `,
    product: `
      product*; item*; size; colour; color; model; quality; defective; damaged; warrant*; guarantee; replacement;
      exchange; in stock; out of stock
    `,
    documents: `
      document*; certificate*; contract*; passport; signature; form; letter; id card; receipt*; paperwork
    `,
    travel: `
      flight*; ticket*; hotel*; trip; luggage; baggage; airline; visa; tour*; passenger*; check in; airport; !
      ticket number; ! support ticket
    `,
    employment: 'vacanc*; resume; interview; salary; job opening; employ*; hiring',
  },
  negations: {
    before: `
      not; never; cannot; cant; wont; dont; doesnt; didnt; isnt; arent; wasnt; werent; couldnt; wouldnt; shouldnt;
      havent; hasnt; aint; unable; refuse*; without; nor; hardly; impossible; no; nothing
    `,
    after: '',
  },
};
