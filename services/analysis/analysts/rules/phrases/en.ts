import type { LanguagePhrases } from './language-phrases.ts';

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
    then_name: `
      this is; its; it is; i am; im; youve got; you have got; youre with; you are with; call me
    `,
    name_then: `
      here; speaking; on the line; at your service; with you; is my name; calling from; will be helping|assisting
    `,
    name_apart: '',
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
    health: `
      symptom*; fever; prescription*; medicine*; medication*; pharmac*; hospital*; nurse*; ambulance; vaccin*; pregnan*;
      surgery; lab|blood|test result|results; treatment*
    `,
    utilities: `
      electricity; power outage|cut|supply; blackout*; gas supply|meter|bill; water supply|meter|pressure|bill; no
      water|power|heating|electricity; hot water; heating; boiler*; sewage; meter reading*; kilowatt*
    `,
    safety: `
      danger*; unsafe; hazard*; gas leak; smell* .. gas|smoke|burning; smoke; fire; sparks|sparking; electric shock;
      evacuat*; emergency; injur*
    `,
    lost_property: `
      lost property; lost and found; left .. bag|wallet|umbrella|coat|jacket|keys|suitcase|backpack; lost my
      bag|wallet|keys|suitcase|backpack
    `,
  },
  negations: {
    before: `
      not; never; cannot; cant; wont; dont; doesnt; didnt; isnt; arent; wasnt; werent; couldnt; wouldnt; shouldnt;
      havent; hasnt; aint; unable; refuse*; without; nor; hardly; impossible; no; nothing
    `,
    after: '',
  },
};
